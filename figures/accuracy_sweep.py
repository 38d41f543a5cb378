"""Accuracy against SNR, or against another swept number, per algorithm."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import panels
from scenarios.config.link import SNRS

FEW = 6  # at most so many values are all marked on the axis
WIDE = 30.0  # a ratio of values above which the axis is logarithmic


def axis_of(study: xr.Dataset) -> str | None:
    """Return the dimension to draw against: an SNR if there is one, else that with most values."""
    numbers = [dim for dim in panels.swept(study) if panels.numeric(study, dim)]
    numbers.sort(key=lambda dim: (dim not in SNRS, -study.sizes[dim]))
    return numbers[0] if numbers else None


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return panels.learnt(study) and axis_of(study) is not None


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    x = axis_of(study)
    assert x is not None
    dim = panels.line_dim(study, x)
    figure, pairs = panels.panels(study.sortby(x), x, dim)
    for axes, label, look, run in panels.each_line(pairs, dim):
        mean, half = panels.mean_and_confidence(100 * run["accuracy"])
        bars = panels.within_percent(mean, half)
        axes.errorbar(run[x].values, mean, bars, label=label, capsize=2, **look)
        scale_axis(axes, x, study[x].values)
    panels.outer_labels(pairs, panels.axis_label(study, x), panels.metric_label("accuracy", "%"))
    panels.legend(figure, pairs[0][0])
    return figure


def scale_axis(axes: Axes, name: str, values: NDArray) -> None:
    """Make the x axis logarithmic if the values span a wide range; start at zero if it is one."""
    positive = values[values > 0]
    logarithms = name.endswith("_db")  # decibels are logarithmic already
    if logarithms or (values < 0).any() or positive.max() / positive.min() < WIDE:
        if len(values) <= FEW:
            axes.set_xticks(values)
        return
    if len(positive) == len(values):
        axes.set_xscale("log")
    else:
        axes.set_xscale("symlog", linthresh=float(positive.min()))
        axes.set_xlim(left=0)
