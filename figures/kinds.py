"""How one panel of a figure is drawn: lines, bars, boxes, a heat map.

Each function draws a metric over the dimensions ``x``, ``hue`` (if any) and ``seed``. Names on the
``x`` dimension stand on the vertical axis, where they have room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from figures import style
from figures.facets import scale_x
from figures.quantities import ROUND, is_numeric, value_label
from figures.roles import Roles
from figures.seeds import summarise

SHARE = 0.8  # of the room of a name or a number that bars and boxes fill
MOST_CELLS = 60  # of a heat map whose values are written into them


def looks(study: xr.Dataset, hue: str | None) -> Iterator[tuple[str, dict, dict]]:
    """Yield label, look and selection of each line; a single one has no label.

    Colours of numbers are those of a scale.
    """
    if hue is None:
        yield "", style.look(None), {}
        return
    values, ordered = study[hue].values, is_numeric(study, hue)
    ours = any(str(value) in style.ALGORITHMS for value in values)
    own = [str(value) for value in values if str(value) not in style.ALGORITHMS]
    for place, value in enumerate(values):
        plain = value.item() if isinstance(value, np.generic) else value
        number = own.index(str(plain)) if ours and str(plain) in own else place
        look = style.look(plain, number, len(values), beside=ours)
        if ordered:
            look["color"] = style.shade(place, len(values))
        yield value_label(study, hue, plain, alone=ordered), look, {hue: value}


def draw_lines(axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles) -> None:
    """Draw means with the spread over the seeds, as a band over rounds and as bars elsewhere."""
    lines = list(looks(study, roles.hue))
    if roles.x != ROUND and not is_numeric(study, roles.x):
        _draw_names(axes, study, values, roles, _dots)
        return
    for label, look, chosen in lines:
        mean, low, high = (each.sel(chosen).values for each in summarise(values))
        x = study[roles.x].values
        known = np.isfinite(mean)
        if roles.x == ROUND:
            if known.sum() > 1:
                look.pop("marker")
            axes.plot(x[known], mean[known], label=label, **look)
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            axes.fill_between(x[known], low[known], high[known], **band)
        else:
            bars = [mean - low, high - mean]
            axes.errorbar(x[known], mean[known], [bar[known] for bar in bars], label=label,
                          capsize=2, elinewidth=0.8, **look)  # fmt: skip
    if roles.x == ROUND:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    else:
        scale_x(axes, study[roles.x].values, decibels=roles.x.endswith("_db"))


def draw_bars(axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles) -> None:
    """Draw means as bars beside one another, with the spread over the seeds."""
    _draw_names(axes, study, values, roles, _bars)


def draw_boxes(axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles) -> None:
    """Draw the quartiles over the seeds; whiskers reach to the farthest ones."""
    _draw_names(axes, study, values, roles, _boxes)


def draw_heatmap(axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles) -> QuadMesh:
    """Draw means as the colours of cells, with their values where there are few."""
    assert roles.hue is not None
    mean = summarise(values)[0].transpose(roles.hue, roles.x).values
    mesh = axes.pcolormesh(mean, cmap="cividis", rasterized=True)
    for axis, dim in ((axes.xaxis, roles.x), (axes.yaxis, roles.hue)):
        names = [value_label(study, dim, value, alone=True) for value in study[dim].values]
        axis.set_ticks(np.arange(len(names)) + 0.5, names)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return mesh


def write_cells(axes: Axes, mesh: QuadMesh, values: NDArray) -> None:
    """Write the values into the cells of a heat map, if there are few."""
    if values.size > MOST_CELLS:
        return
    digits = 0 if np.nanmax(np.abs(values), initial=0) >= 10 else 2
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = float(np.asarray(mesh.norm(value))) < 0.5
            axes.text(column + 0.5, row + 0.5, f"{value:.{digits}f}", ha="center", va="center",
                      color="white" if dark else "black", size="x-small")  # fmt: skip


Mark = Callable[[Axes, NDArray, float, xr.DataArray, str, dict, bool], None]
"""Draws one line's marks at positions, with a width, for values over x and seeds; True: upright."""


def _draw_names(
    axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles, mark: Mark
) -> None:
    """Draw marks side by side at each value, numbers on the horizontal axis, names on the other."""
    upright = is_numeric(study, roles.x)
    lines = list(looks(study, roles.hue))
    places, width = np.arange(study.sizes[roles.x]), SHARE / len(lines)
    for number, (label, look, chosen) in enumerate(lines):
        shift = (number - (len(lines) - 1) / 2) * width
        mark(axes, places + shift, width, values.sel(chosen), label, look, upright)
    names = [value_label(study, roles.x, value, alone=True) for value in study[roles.x].values]
    if upright:
        axes.set_xticks(places, names)
        axes.grid(visible=False, axis="x")
    else:
        axes.set_yticks(places, names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        for place in places[1::2]:
            axes.axhspan(place - 0.5, place + 0.5, color="0.95", linewidth=0, zorder=0)


def _dots(
    axes: Axes, at: NDArray, width: float, values: xr.DataArray, label: str, look: dict, up: bool
) -> None:
    mean, low, high = (each.values for each in summarise(values))
    look = look | {"linestyle": "none"}
    axes.errorbar(
        mean, at, xerr=[mean - low, high - mean], label=label, capsize=2, elinewidth=0.8, **look
    )


def _bars(
    axes: Axes, at: NDArray, width: float, values: xr.DataArray, label: str, look: dict, up: bool
) -> None:
    mean, low, high = (each.values for each in summarise(values))
    bar: dict[str, Any] = {"color": look["color"], "label": label, "alpha": 0.85}
    error: dict[str, Any] = {"ecolor": style.BLACK, "capsize": 2, "error_kw": {"elinewidth": 0.8}}
    around = [mean - low, high - mean]
    if up:
        axes.bar(at, mean, 0.9 * width, yerr=around, **bar, **error)
    else:
        axes.barh(at, mean, 0.9 * width, xerr=around, **bar, **error)


def _boxes(
    axes: Axes, at: NDArray, width: float, values: xr.DataArray, label: str, look: dict, up: bool
) -> None:
    seeds = values if "seed" in values.dims else values.expand_dims("seed")
    (x,) = (dim for dim in seeds.dims if dim != "seed")
    each = [run[np.isfinite(run)] for run in seeds.transpose(x, "seed").values]
    thin = {"color": style.BLACK, "linewidth": 0.8}
    axes.boxplot(
        each, positions=at, widths=0.8 * width, manage_ticks=False, patch_artist=True,
        whis=(0, 100), orientation="vertical" if up else "horizontal", medianprops=thin,
        whiskerprops=thin, capprops=thin,
        boxprops={"facecolor": look["color"], "linewidth": 0.8, "alpha": 0.85},
    )  # fmt: skip
    axes.plot([], [], "s", color=look["color"], markersize=1.5 * plt.rcParams["lines.markersize"],
              label=label)  # fmt: skip


KINDS: dict[str, Callable[[Axes, xr.Dataset, xr.DataArray, Roles], Any]] = {
    "line": draw_lines,
    "heatmap": draw_heatmap,
    "bar": draw_bars,
    "box": draw_boxes,
}
"""The kinds of figures, by the name that users choose."""
