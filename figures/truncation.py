"""The trade-off of truncation: who is silent on weak carriers lets all others speak louder."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from figures.accuracy_sweep import scale_axis


def applies(study: xr.Dataset) -> bool:
    return "truncation" in panels.swept(study) and "nmse" in study


def draw(study: xr.Dataset) -> Figure:
    """Active part of the spectrum, NMSE of the sum and accuracy, each against the threshold.

    Where more than algorithms is swept beside, at the first value of it.
    """
    dim = panels.line_dim(study, "truncation")
    others = [each for each in panels.swept(study) if each not in ("truncation", dim)]
    runs = study.isel(dict.fromkeys(others, 0)).squeeze(panels.single(study), drop=True)
    runs = runs.sortby("truncation")
    size = (style.PAGE_WIDTH, 2.3)
    figure, (active, error, accuracy) = plt.subplots(1, 3, figsize=size)
    threshold = runs["truncation"].values
    for label, look, run in panels.lines(runs, dim):
        mean, half = panels.mean_and_confidence(
            100 * run["active_fraction"].mean(["round", "client"])
        )
        active.errorbar(threshold, mean, half, label=label, capsize=2, **look)
        decibels = xr.apply_ufunc(np.log10, run["nmse"].median("round")) * 10
        mean, half = panels.mean_and_confidence(decibels)
        error.errorbar(threshold, mean, half, capsize=2, **look)
        mean, half = panels.mean_and_confidence(100 * run["accuracy"])
        accuracy.errorbar(threshold, mean, half, capsize=2, **look)
    for axes, title, label in (
        (active, "(a)", "active carriers [%]"),
        (error, "(b)", "NMSE, median over rounds [dB]"),
        (accuracy, "(c)", "test accuracy [%]"),
    ):
        axes.set(title=title, xlabel=panels.label_of("truncation"), ylabel=label)
        scale_axis(axes, "truncation", threshold)
    if dim is not None:
        active.legend(loc="best")
    return figure
