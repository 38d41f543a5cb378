"""The trade-off of truncation: a client that skips weak carriers lets all others use more gain."""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import panels, style
from figures.accuracy_sweep import scale_axis

MAX_ROWS = 6


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return "truncation" in panels.swept(study) and "nmse" in study


def draw(study: xr.Dataset) -> Figure:
    """Draw the active fraction, the NMSE of the sum and the accuracy against the threshold.

    There is one row of three panels per value of what else is swept.
    """
    dim = panels.line_dim(study, "truncation")
    runs = study.squeeze(panels.single(study), drop=True).sortby("truncation")
    others = [each for each in panels.swept(study) if each not in ("truncation", dim)]
    cases = list(product(*(runs[each].values for each in others)))
    shown = cases[:MAX_ROWS]
    figure = plt.figure(figsize=(style.PAGE_WIDTH, 2.2 * len(shown) + 0.2))
    for row, case in zip(np.atleast_1d(figure.subfigures(len(shown))), shown, strict=True):
        chosen = dict(zip(others, case, strict=True))
        if chosen:
            row.suptitle(panels.place_label(chosen), fontsize=8)
        _draw_row(row.subplots(1, 3), runs.sel(chosen), dim)
    if len(cases) > len(shown):
        figure.text(0.5, 0, f"the first {len(shown)} of {len(cases)} rows", ha="center")
    return figure


def _draw_row(row: NDArray, runs: xr.Dataset, dim: str | None) -> None:
    threshold = runs["truncation"].values
    for label, look, run in panels.lines(runs, dim):
        fraction = 100 * run["active_fraction"].mean(["round", "client"])
        each = (fraction, panels.median_nmse_db(run), 100 * run["accuracy"])
        for axes, values in zip(row, each, strict=True):
            mean, half = panels.mean_and_confidence(values)
            bars = half if axes is row[1] else panels.within_percent(mean, half)
            axes.errorbar(threshold, mean, bars, label=label, capsize=2, **look)
    labels = (
        panels.metric_label("active_fraction", "%"),
        panels.metric_label("nmse", "dB", "median over rounds"),
        panels.metric_label("accuracy", "%"),
    )
    for axes, label in zip(row, labels, strict=True):
        axes.set(xlabel=panels.axis_label(runs, "truncation"), ylabel=label)
        scale_axis(axes, "truncation", threshold)
    if dim is not None:
        row[0].legend(loc="lower left")
