"""NMSE of the sum against SNR, measured and by closed form."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from figures import style
from scenarios.linkcheck import LinkCheck

FEW = 4  # links whose names find room in the picture


def draw(check: LinkCheck) -> Figure:
    """Markers are measured, with two standard errors; lines are theory."""
    few = len(check.links) <= FEW
    size = (style.COLUMN_WIDTH if few else style.PAGE_WIDTH, 2.6)
    figure, axes = plt.subplots(figsize=size)
    snr = check.entry_snr_db
    for place, name in enumerate(check.links):
        look = style.look(None, place, len(check.links))
        mean, error = check.mean[place], check.error[place]
        if not (mean > 0).all():
            continue  # the exact sum
        color = look["color"]
        low, high = np.maximum(mean - 2 * error, mean / 10), mean + 2 * error
        around = [_decibels(mean) - _decibels(low), _decibels(high) - _decibels(mean)]
        axes.errorbar(
            snr, _decibels(mean), around, color=color, marker=look["marker"], linestyle="none",
            capsize=2, label=name,
        )  # fmt: skip
        axes.plot(snr, _decibels(check.expected[place]), color=color, linestyle="-", linewidth=0.9)
        axes.plot(
            snr, _decibels(check.median[place]), color=color, linestyle=":", linewidth=0.9
        )  # fmt: skip
    if np.isfinite(check.expected).any():
        axes.plot([], [], color=style.BLACK, linewidth=0.9, label="closed form")
    axes.plot(
        [], [], color=style.BLACK, linewidth=0.9, linestyle=":", label="median at largest gain"
    )
    axes.set(xlabel="SNR of an entry [dB]", ylabel="NMSE of the sum [dB]")
    if few:
        axes.legend(loc="best")
    else:
        figure.legend(loc="outside right center")
    return figure


def _decibels(ratio: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return 10 * np.log10(ratio)
