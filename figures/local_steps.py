"""Local steps that ACPC-OTA-FL chose for each client and round, for one seed."""

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
    """Return whether the study has the data for this figure."""
    runs = _acpc(study)
    return runs is not None and "steps" in runs and float(runs["steps"].max()) > 1


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    runs = _acpc(study)
    assert runs is not None
    runs = panels.one_seed(runs)
    most = float(runs["steps"].max())
    colours = plt.get_cmap("cividis", int(most))
    figure, pairs = panels.panels(runs, None)
    for axes, part in pairs:
        steps = part["steps"].transpose("client", "round").values
        y, x = (np.arange(size + 1) + 0.5 for size in steps.shape)
        image = axes.pcolormesh(
            x, y, steps, vmin=0.5, vmax=most + 0.5, cmap=colours, rasterized=True
        )
        axes.grid(visible=False)
    panels.outer_labels(pairs, "round", "client of ACPC-OTA-FL")
    label = rf"{panels.metric_label('steps')} $\tau$"
    bar = figure.colorbar(image, ax=[axes for axes, _ in pairs], label=label)
    if most <= 12:
        bar.set_ticks(list(range(1, int(most) + 1)))
    return figure
