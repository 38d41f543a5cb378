"""Accuracy against round."""

from __future__ import annotations

import numpy as np
import pytest

from figures import (
    accuracy_rounds,
    panels,
)
from tests.figures.drawn import line


def test_accuracy_rounds(sweep):
    figure = accuracy_rounds.draw(sweep)
    visible = [axes for axes in figure.axes if axes.get_visible()]
    assert len(visible) == 6
    run = sweep.sel(algorithm="cotaf", snr_db=20.0, truncation=0.1)["test_accuracy"]
    (axes,) = [each for each in visible if each.get_title() == "SNR 20 dB, $g$ = 0.1"]
    np.testing.assert_allclose(line(axes, "COTAF"), 100 * run.mean("seed"))
    _, half = panels.mean_and_confidence(100 * run)
    band = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(np.minimum(100, 100 * run.mean("seed") + half).max())
    assert figure.axes[0].get_ylabel() == "test accuracy [%]"


def test_runs_that_diverged_are_in_no_curve(sweep):
    wild = sweep.copy()
    wild["diverged"] = wild["diverged"].copy()
    wild["diverged"].loc[{"seed": 1}] = 1.0
    axes = accuracy_rounds.draw(wild).axes[0]
    run = sweep["test_accuracy"].sel(algorithm="cotaf", snr_db=10.0, truncation=0.01, seed=0)
    np.testing.assert_allclose(line(axes, "COTAF"), 100 * run)
