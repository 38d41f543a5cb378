"""Accuracy against a swept number."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from figures import (
    accuracy_sweep,
    panels,
)


def test_accuracy_against_snr(sweep):
    figure = accuracy_sweep.draw(sweep)
    assert accuracy_sweep.axis_of(sweep) == "snr_db"
    assert [axes.get_title() for axes in figure.axes] == ["$g$ = 0.01", "$g$ = 0.1"]
    assert figure.axes[0].get_xlabel() == "SNR [dB]"
    bars = figure.axes[1].containers[0]  # ACPC
    expected = 100 * sweep["accuracy"].sel(algorithm="acpc", truncation=0.1).mean("seed")
    np.testing.assert_allclose(bars.lines[0].get_ydata(), expected)
    _, half = panels.mean_and_confidence(
        100 * sweep["accuracy"].sel(algorithm="acpc", truncation=0.1)
    )
    tops = [segment[1, 1] for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(tops, np.minimum(expected + half, 100))


def test_axis_scales():
    for name, values, scale in (
        ("snr_db", [1, 10, 40], "linear"),
        ("truncation", [0.001, 1.0], "log"),
        ("variance", [0.0, 0.001, 1.0], "symlog"),
        ("x", [-1, 0.001, 1.0], "linear"),
        ("x", [1, 2, 3], "linear"),
    ):
        axes = plt.figure().subplots()
        accuracy_sweep.scale_axis(axes, name, np.array(values))
        assert axes.get_xscale() == scale
