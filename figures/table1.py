"""Our accuracies beside those of a paper, with the deviations."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from scenarios.study.points import Point, published


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return bool(published(study.attrs["points"]))


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    points = published(study.attrs["points"])
    rows = np.arange(len(points))
    size = (style.COLUMN_WIDTH, 0.14 * len(points) + 0.9)
    figure, (left, right) = plt.subplots(1, 2, figsize=size, width_ratios=[2, 1], sharey=True)
    for row, point in zip(rows, points, strict=True):
        look = style.look(point.labels.get("algorithm.name"), 0)
        del look["linestyle"]
        left.plot([point.paper, point.mean], [row, row], color=look["color"], linewidth=0.8)
        left.errorbar(point.mean, row, xerr=point.std, **look)
        left.plot(point.paper, row, markerfacecolor="white", **look)
        right.barh(row, point.deviation, color=look["color"], height=0.7)
    left.set_yticks(rows, [_label(point) for point in points], fontsize=6)
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set_xlabel(panels.metric_label("accuracy", "%"))
    right.set_xlabel("deviation\n[points]")
    limit = 1.1 * max(1.0, *(abs(point.deviation) for point in points))
    right.set_xlim(-limit, limit)
    right.axvline(0, color=style.BLACK, linewidth=0.6)
    right.tick_params(left=False)
    look = {"color": style.BLACK, "marker": "o", "linestyle": "none"}
    handles = [
        plt.Line2D([], [], label="ours, ± std", **look),
        plt.Line2D([], [], label="paper", markerfacecolor="white", **look),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _label(point: Point) -> str:
    names = (key.split(".")[-1] for key in point.labels)
    return ", ".join(map(panels.value_label, names, point.labels.values()))
