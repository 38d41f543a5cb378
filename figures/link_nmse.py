"""NMSE of the sum against SNR, measured and in closed form."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from figures import style
from otafl._base.decibels import to_db
from scenarios.report.linkcheck import LinkCheck

FEW = 4  # at most so many names fit into the figure


def draw(check: LinkCheck) -> Figure:
    """Draw measurements as markers with two standard errors, closed forms as lines."""
    few = len(check.links) <= FEW
    size = (style.COLUMN_WIDTH if few else style.PAGE_WIDTH, 2.6)
    figure, axes = plt.subplots(figsize=size)
    snr = check.entry_snr_db
    for place, name in enumerate(check.links):
        look = style.look(None, place, len(check.links)) | {"linestyle": "none"}
        mean, error = check.mean[place], check.error[place]
        if not (mean > 0).all():
            continue  # the exact sum
        low, high = np.maximum(mean - 2 * error, mean / 10), mean + 2 * error
        around = [to_db(mean) - to_db(low), to_db(high) - to_db(mean)]
        axes.errorbar(snr, to_db(mean), around, capsize=2, label=name, **look)
        thin = {"color": look["color"], "linewidth": 0.9}
        axes.plot(snr, to_db(check.expected[place]), "-", **thin)
        axes.plot(snr, to_db(check.median[place]), ":", **thin)
    thin = {"color": style.BLACK, "linewidth": 0.9}
    if np.isfinite(check.expected).any():
        axes.plot([], [], "-", label="closed form", **thin)
    axes.plot([], [], ":", label="median at largest gain", **thin)
    axes.set(xlabel="entry SNR [dB]", ylabel="NMSE of the sum [dB]")
    if few:
        axes.legend(loc="best")
    else:
        figure.legend(loc="outside right center")
    return figure
