"""Accuracy against round, with 95 % confidence bands over the seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from figures import panels


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return panels.learnt(study)


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    dim = panels.line_dim(study)
    figure, pairs = panels.panels(study, dim)
    for axes, label, look, run in panels.each_line(pairs, dim):
        ended = run["test_accuracy"].where(run["diverged"] == 0)
        mean, half = panels.mean_and_confidence(100 * ended)
        tested = ~np.isnan(mean)
        if tested.sum() > 1:
            look.pop("marker")
        x, y, band = run["round"].values[tested], mean[tested], half[tested]
        axes.plot(x, y, label=label, **look)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        low, high = np.maximum(y - band, 0), np.minimum(y + band, 100)
        axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)
    panels.outer_labels(pairs, "round", panels.metric_label("test_accuracy", "%"))
    panels.legend(figure, pairs[0][0])
    return figure
