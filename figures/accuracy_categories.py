"""Accuracy for swept values that have names: fadings, budgets, partitions."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels

WIDTH = 0.5  # of the points of a category, side by side


def axis_of(study: xr.Dataset) -> str | None:
    """Return the dimension with the most named values, algorithms apart."""
    names = [
        dim for dim in panels.swept(study) if dim != "algorithm" and not panels.numeric(study, dim)
    ]
    return max(names, key=lambda dim: study.sizes[dim]) if names else None


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return panels.learnt(study) and axis_of(study) is not None


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    y = axis_of(study)
    assert y is not None
    dim = panels.line_dim(study, y)
    height = 0.8 + 0.35 * study.sizes[y]
    figure, pairs = panels.panels(study, y, dim, height=height)
    rows = np.arange(study.sizes[y])
    for axes, part in pairs:
        each = list(panels.lines(part, dim))
        shifts = np.linspace(-WIDTH / 2, WIDTH / 2, len(each)) if len(each) > 1 else [0.0]
        for shift, (label, look, run) in zip(shifts, each, strict=True):
            mean, half = panels.mean_and_confidence(100 * run["accuracy"])
            bars = panels.within_percent(mean, half)
            look["linestyle"] = "none"
            axes.errorbar(mean, rows + shift, xerr=bars, label=label, capsize=2, **look)
        axes.set_yticks(rows, [panels.value_label(y, str(v)) for v in study[y].values])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
    panels.outer_labels(pairs, panels.metric_label("accuracy", "%"), panels.axis_label(study, y))
    panels.legend(figure, pairs[0][0])
    return figure
