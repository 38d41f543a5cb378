"""Figures of several panels: labels once at the edges, one legend outside, ticks that fit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, YAxis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from figures import style
from scenarios.config.labels import plain

MAX_PANELS = 6
FEW = 9  # at most so many values are all marked on an axis
WIDE = 30.0  # a ratio of values above which an axis is logarithmic
LETTERS = 15.0  # of a heading that fit into an inch
GAP = 0.5  # between the labels of neighbouring ticks, in their height


def make(
    rows: Sequence[str],
    columns: Sequence[str],
    height: float = 1.7,
    share_x: bool | str = True,
    share_y: bool | str = True,
) -> tuple[Figure, NDArray]:
    """Make a grid of panels with a heading per column and, at the right edge, per row.

    Parameters
    ----------
    rows, columns : sequence of str
        The headings; a single row or column may have an empty one. More than four columns without
        rows are wrapped.
    height : float
        Of a panel, in a paper [inch].
    share_x, share_y : bool or {"row"}
        Whether all panels have the same axis, or those of a row.

    Returns
    -------
    figure : Figure
    axes : ndarray of Axes, shape [rows, columns]
        Wrapped ones are ``[1, columns]`` all the same.
    """
    across = len(columns) if len(columns) <= 4 or len(rows) > 1 else 3
    down = len(rows) * -(-len(columns) // across)
    width = style.COLUMN_WIDTH if across == 1 else style.PAGE_WIDTH
    shares = {"sharex": share_x, "sharey": share_y}
    figure, grid = style.subplots(down, across, width, max(height * down, 2.0) + 0.5, **shares)
    if len(rows) == 1:
        panels = grid.reshape(1, -1)[:, : len(columns)]
        for axes in grid.flat[len(columns) :]:
            axes.remove()
        for axes, below in zip(grid[:-1].flat, grid[1:].flat, strict=True):
            if below not in figure.axes:
                axes.tick_params(labelbottom=True)
    else:
        panels = grid
    letters = int(LETTERS * width / across)
    for axes, heading in zip(panels[0], columns, strict=True):
        axes.set_title(textwrap.fill(heading, letters))
    for axes, heading in zip(panels[:, -1], rows, strict=True):
        if heading:
            axes.annotate(
                heading, (1, 0.5), (0.6, 0), xycoords="axes fraction", ha="left", va="center",
                textcoords="offset fontsize", rotation=270, size=plt.rcParams["axes.titlesize"],
            )  # fmt: skip
    return figure, panels


def label_axes(figure: Figure, panels: NDArray, x: Sequence[str], y: Sequence[str]) -> None:
    """Label the axes, each once or once per row.

    Parameters
    ----------
    figure : Figure
    panels : ndarray of Axes, shape [rows, columns]
    x, y : sequence of str
        One label for all axes, or one per row of panels.
    """
    size = plt.rcParams["axes.labelsize"]
    if panels.size == 1:
        panels[0, 0].set(xlabel=x[0], ylabel=y[0])
        return
    if len(x) == 1:
        figure.supxlabel(x[0], fontsize=size)
    else:
        for axes, label in zip(panels[:, panels.shape[1] // 2], x, strict=True):
            axes.set_xlabel(label)
    if len(y) == 1:
        figure.supylabel(y[0], fontsize=size)
    else:
        for axes, label in zip(panels[:, 0], y, strict=True):
            axes.set_ylabel(label)
        figure.align_ylabels()


def legend(figure: Figure, panels: NDArray, title: str = "") -> Legend | None:
    """Put one legend of all panels above them, in as few rows as fit the width of the figure."""
    handles: dict[str, Any] = {}
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return None
    for rows in range(1, len(handles) + 1):
        columns = -(-len(handles) // rows)
        made = figure.legend(
            handles.values(), handles, title=title, loc="outside upper center", ncols=columns
        )
        if made.get_window_extent().width <= figure.bbox.width or columns == 1:
            return made
        made.remove()
    return None


def scale_x(axes: Axes, values: NDArray, decibels: bool) -> None:
    """Mark the values on the horizontal axis; make it logarithmic if they span a wide range.

    Zero is marked too, where the logarithmic axis ends. Decibels are logarithmic already.
    """
    positive = values[values > 0]
    wide = len(positive) > 0 and positive.max() / positive.min() >= WIDE
    if wide and not decibels and not (values < 0).any():
        if len(positive) == len(values):
            axes.set_xscale("log")
        else:
            axes.set_xscale("symlog", linthresh=float(positive.min()))
    if len(values) <= FEW:
        ordered = np.sort(values).tolist()
        axes.set_xticks(ordered, [plain(value) for value in ordered])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(6))


def fit(figure: Figure) -> None:
    """Lay the figure out, and leave tick labels out where they would touch."""
    figure.draw_without_rendering()
    thinned = [
        _thin(axis) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) if axes.axison
    ]
    if any(thinned):
        figure.draw_without_rendering()


def _thin(axis: Axis) -> bool:
    """Leave out every second label of fixed ticks until none touch; return whether any was."""
    thinned = False
    while isinstance(axis.get_major_locator(), FixedLocator) and _touching(axis):
        ticks = axis.get_ticklocs()
        labels = [label.get_text() for label in axis.get_ticklabels()]
        axis.set_ticks(ticks[::2], labels[::2])
        thinned = True
    return thinned


def _touching(axis: Axis) -> bool:
    """Return whether labels of neighbouring ticks touch."""
    labels = [each for each in axis.get_ticklabels() if each.get_visible() and each.get_text()]
    boxes: list[Bbox] = [label.get_window_extent() for label in labels]
    if isinstance(axis, YAxis):
        return any(a.y1 > b.y0 and b.y1 > a.y0 for a, b in pairwise(boxes))
    return any(
        a.x1 + GAP * a.height > b.x0 and b.x1 + GAP * b.height > a.x0 for a, b in pairwise(boxes)
    )
