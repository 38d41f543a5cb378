"""How one panel of a figure is drawn: lines, bars, boxes, a heat map.

Each function draws a metric over the dimensions ``x``, ``hue`` (if any) and ``seed``. Names on the
``x`` dimension stand on the vertical axis, where they have room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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
        look = style.look(plain, number, beside=ours)
        if ordered or len(values) > style.MOST_LOOKS:
            look["color"] = style.shade(place, len(values))
        yield value_label(study, hue, plain, alone=ordered), look, {hue: value}


def draw_lines(
    axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles, few: bool
) -> None:
    """Draw means with the spread over the seeds, as a band over rounds and as bars elsewhere."""
    if roles.x != ROUND and not is_numeric(study, roles.x):
        _draw_side_by_side(axes, study, values, roles, few, _dots)
        return
    summary, x = summarise(values, few), study[roles.x].values
    for label, look, chosen in looks(study, roles.hue):
        mean, low, high = (each.sel(chosen).values for each in summary)
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


def draw_bars(axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles, few: bool) -> None:
    """Draw means as bars beside one another, with the spread over the seeds."""
    _draw_side_by_side(axes, study, values, roles, few, _bars)


def draw_boxes(
    axes: Axes, study: xr.Dataset, values: xr.DataArray, roles: Roles, few: bool
) -> None:
    """Draw the quartiles over the seeds; whiskers reach to the farthest ones."""
    _draw_side_by_side(axes, study, values, roles, few, _boxes)


def draw_heatmap(axes: Axes, study: xr.Dataset, means: xr.DataArray, roles: Roles) -> QuadMesh:
    """Draw means, over ``x`` and ``hue``, as the colours of cells."""
    assert roles.hue is not None
    mesh = axes.pcolormesh(means.transpose(roles.hue, roles.x), cmap="cividis", rasterized=True)
    for axis, dim in ((axes.xaxis, roles.x), (axes.yaxis, roles.hue)):
        names = [value_label(study, dim, value, alone=True) for value in study[dim].values]
        axis.set_ticks(np.arange(len(names)) + 0.5, names)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return mesh


def write_cells(axes: Axes, mesh: QuadMesh) -> None:
    """Write the values into the cells of a heat map, if there are few."""
    values: NDArray = np.ma.filled(np.ma.asarray(mesh.get_array()), np.nan)
    if values.size > MOST_CELLS:
        return
    digits = 0 if np.nanmax(np.abs(values), initial=0) >= 10 else 2
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = float(np.asarray(mesh.norm(value))) < 0.5
            text = f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")
            place: dict[str, Any] = {"ha": "center", "va": "center", "size": "x-small"}
            colour = "white" if dark else "black"
            axes.text(column + 0.5, row + 0.5, text, color=colour, **place)


@dataclass(frozen=True)
class _Marks:
    """What one line shows of names: places and width of its marks, label, look and values.

    ``upright`` says whether names are on the horizontal axis.
    """

    at: NDArray
    width: float
    label: str
    look: dict
    values: xr.DataArray
    few: bool
    upright: bool


def _draw_side_by_side(
    axes: Axes,
    study: xr.Dataset,
    values: xr.DataArray,
    roles: Roles,
    few: bool,
    mark: Callable[[Axes, _Marks], None],
) -> None:
    """Draw marks side by side at each value, numbers on the horizontal axis, names on the other."""
    upright = is_numeric(study, roles.x)
    lines = list(looks(study, roles.hue))
    places, width = np.arange(study.sizes[roles.x]), SHARE / len(lines)
    for number, (label, look, chosen) in enumerate(lines):
        shift = (number - (len(lines) - 1) / 2) * width
        part = values.sel(chosen)
        mark(axes, _Marks(places + shift, width, label, look, part, few, upright))
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


def _dots(axes: Axes, marks: _Marks) -> None:
    mean, low, high = (each.values for each in summarise(marks.values, marks.few))
    look = marks.look | {"linestyle": "none", "capsize": 2, "elinewidth": 0.8}
    axes.errorbar(mean, marks.at, xerr=[mean - low, high - mean], label=marks.label, **look)


def _bars(axes: Axes, marks: _Marks) -> None:
    mean, low, high = (each.values for each in summarise(marks.values, marks.few))
    around = [mean - low, high - mean]
    look: dict[str, Any] = {"color": marks.look["color"], "label": marks.label, "alpha": 0.85}
    look |= {"ecolor": style.BLACK, "capsize": 2, "error_kw": {"elinewidth": 0.8}}
    if marks.upright:
        axes.bar(marks.at, mean, 0.9 * marks.width, yerr=around, **look)
    else:
        axes.barh(marks.at, mean, 0.9 * marks.width, xerr=around, **look)


def _boxes(axes: Axes, marks: _Marks) -> None:
    values = marks.values
    seeds = values if "seed" in values.dims else values.expand_dims("seed")
    (x,) = (dim for dim in seeds.dims if dim != "seed")
    each = [run[np.isfinite(run)] for run in seeds.transpose(x, "seed").values]
    thin, colour = {"color": style.BLACK, "linewidth": 0.8}, marks.look["color"]
    axes.boxplot(
        each, positions=marks.at, widths=0.8 * marks.width, manage_ticks=False, patch_artist=True,
        whis=(0, 100), orientation="vertical" if marks.upright else "horizontal", medianprops=thin,
        whiskerprops=thin, capprops=thin,
        boxprops={"facecolor": colour, "linewidth": 0.8, "alpha": 0.85},
    )  # fmt: skip
    square = {"color": colour, "markersize": 1.5 * style.marker_size()}
    axes.plot([], [], "s", label=marks.label, **square)


KINDS: dict[str, Callable[[Axes, xr.Dataset, xr.DataArray, Roles, bool], None]] = {
    "line": draw_lines,
    "bar": draw_bars,
    "box": draw_boxes,
}
"""The kinds of figures whose panels have a vertical axis of their own, by name."""
