"""Local steps of each client over the rounds, as ACPC-OTA-FL chose them (one seed)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels


def _acpc(study: xr.Dataset) -> xr.Dataset | None:
    if "algorithm" not in study.dims:
        return study if study.attrs["algorithms"] == ["acpc"] else None
    chosen = [value for value in study["algorithm"].values if value == "acpc"]
    return study.sel(algorithm=chosen) if chosen else None


def applies(study: xr.Dataset) -> bool:
    runs = _acpc(study)
    return runs is not None and "steps" in runs and float(runs["steps"].max()) > 1


def draw(study: xr.Dataset) -> Figure:
    runs = _acpc(study)
    assert runs is not None
    runs = panels.one_seed(runs)
    most = float(runs["steps"].max())
    figure, pairs = panels.panels(runs, None)
    for axes, part in pairs:
        steps = part["steps"].transpose("client", "round").values
        image = axes.pcolormesh(
            np.arange(steps.shape[1] + 1) + 0.5,
            np.arange(steps.shape[0] + 1) + 0.5,
            steps,
            cmap=plt.get_cmap("cividis", int(most)),
            vmin=0.5,
            vmax=most + 0.5,
            rasterized=True,
        )
        axes.grid(visible=False)
    panels.outer_labels(pairs, "round", "client of ACPC-OTA-FL")
    bar = figure.colorbar(image, ax=[axes for axes, _ in pairs], label=r"local steps $\tau$")
    if most <= 12:
        bar.set_ticks(list(range(1, int(most) + 1)))
    return figure
