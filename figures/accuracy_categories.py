"""Accuracy for things that have names: kinds of fading, budgets, partitions."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels

WIDTH = 0.5  # of all points of a category, beside one another


def axis_of(study: xr.Dataset) -> str | None:
    names = [
        dim for dim in panels.swept(study) if dim != "algorithm" and not panels.numeric(study, dim)
    ]
    return max(names, key=lambda dim: study.sizes[dim]) if names else None


def applies(study: xr.Dataset) -> bool:
    return bool(study["accuracy"].notnull().any()) and axis_of(study) is not None


def draw(study: xr.Dataset) -> Figure:
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
            look["linestyle"] = "none"
            axes.errorbar(
                mean,
                rows + shift,
                xerr=panels.within_percent(mean, half),
                label=label,
                capsize=2,
                **look,
            )
        axes.set_yticks(rows, [panels.value_label(y, str(v)) for v in study[y].values])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
    panels.outer_labels(pairs, "test accuracy [%]", panels.label_of(y))
    if dim is not None:
        panels.legend(figure, pairs[0][0])
    return figure
