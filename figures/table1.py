"""Ours and a paper's accuracies side by side, with the deviations."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from scenarios.results import Point


def applies(study: xr.Dataset) -> bool:
    return any(point.paper is not None and point.accuracies for point in study.attrs["points"])


def draw(study: xr.Dataset) -> Figure:
    points: list[Point] = [
        point for point in study.attrs["points"] if point.paper is not None and point.accuracies
    ]
    rows = np.arange(len(points))
    figure, (left, right) = plt.subplots(
        1,
        2,
        figsize=(style.COLUMN_WIDTH, 0.14 * len(points) + 0.9),
        width_ratios=[2, 1],
        sharey=True,
    )
    for row, point in zip(rows, points, strict=True):
        look = style.look(point.labels.get("algorithm.name"), 0)
        paper = point.paper or 0.0
        left.plot([paper, point.mean], [row, row], color=look["color"], linewidth=0.8)
        left.errorbar(point.mean, row, xerr=point.std, color=look["color"], marker=look["marker"])
        left.plot(paper, row, color=look["color"], marker=look["marker"], markerfacecolor="white")
        right.barh(row, point.mean - paper, color=look["color"], height=0.7)
    left.set_yticks(rows, [_label(point) for point in points], fontsize=6)
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set_xlabel("test accuracy [%]")
    right.set_xlabel("deviation\n[points]")
    limit = 1.1 * max(1.0, *(abs(point.mean - (point.paper or 0)) for point in points))
    right.set_xlim(-limit, limit)
    right.axvline(0, color=style.BLACK, linewidth=0.6)
    right.tick_params(left=False)
    handles = [
        plt.Line2D([], [], color=style.BLACK, marker="o", linestyle="none", label="ours, ± std"),
        plt.Line2D(
            [], [], color=style.BLACK, marker="o", linestyle="none", markerfacecolor="white",
            label="paper",
        ),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _label(point: Point) -> str:
    parts = []
    for key, value in point.labels.items():
        name = key.split(".")[-1]
        parts.append(panels.value_label(name, value))
    return ", ".join(parts)
