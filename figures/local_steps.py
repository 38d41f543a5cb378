"""Local steps that ACPC-OTA-FL chose for each client and round, for one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from figures import facets, panels, style
from figures.quantities import ROUND
from figures.roles import Roles, one_seed, single, swept, thin, without_surplus


def _acpc(study: xr.Dataset) -> xr.Dataset | None:
    if "algorithm" not in study.dims:
        return study if study.attrs["algorithms"] == ["acpc"] else None
    chosen = [value for value in study["algorithm"].values if value == "acpc"]
    return study.sel(algorithm=chosen) if chosen else None


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    runs = _acpc(study)
    return runs is not None and "steps" in runs and float(runs["steps"].max()) > 1


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw the figure."""
    runs = _acpc(study)
    assert runs is not None
    runs = without_surplus(one_seed(runs), ROUND, 2, on_note)
    col, row = [*swept(runs), None, None][:2]
    roles = Roles(ROUND, ("steps",), None, col, row)
    runs = thin(runs, roles, on_note)
    runs = runs.squeeze(single(runs, (col, row)))
    most = int(runs["steps"].max())
    colours = plt.get_cmap("cividis", most)
    figure, grid = panels.make(runs, roles)
    for axes, _, part in panels.each(grid, runs, roles):
        steps = part["steps"].transpose("client", "round").values
        y, x = np.arange(len(steps) + 1) - 0.5, np.arange(steps.shape[1] + 1) + 0.5
        limits: dict[str, Any] = {"vmin": 0.5, "vmax": most + 0.5}
        image = axes.pcolormesh(x, y, steps, cmap=colours, rasterized=True, **limits)
        axes.grid(visible=False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True))
    facets.label_axes(figure, grid, ["round"], ["client of ACPC-OTA-FL"])
    bar = figure.colorbar(image, ax=list(grid.flat), label=r"local steps $\tau$")
    bar.ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    facets.fit(figure)
    caption = "local steps that ACPC-OTA-FL chose for each client and round; one seed"
    return style.describe(figure, f"{study.attrs['title']}: {caption}.")
