"""NMSE of the sum against SNR, measured and in closed form."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from figures import facets, style
from otafl._base.decibels import to_db
from scenarios.report.linkcheck import LinkCheck


def draw(check: LinkCheck) -> Figure:
    """Draw measurements as markers with two standard errors, closed forms as lines."""
    figure, grid = style.subplots(1, 1, style.COLUMN_WIDTH, 3.0)
    axes = grid[0, 0]
    snr = check.entry_snr_db
    for place, name in enumerate(check.links):
        look = style.look(None, place) | {"linestyle": "none"}
        if len(check.links) > style.MOST_LOOKS:
            look["color"] = style.shade(place, len(check.links))
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
    facets.legend(figure, grid)
    facets.fit(figure)
    caption = "NMSE of the sum; markers: mean at a given gain, with two standard errors"
    return style.describe(figure, f"{check.title}: {caption}.")
