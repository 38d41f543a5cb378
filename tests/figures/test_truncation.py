"""The trade-off of truncation."""

from __future__ import annotations

import numpy as np

from figures import (
    truncation,
)


def test_truncation(sweep):
    figure = truncation.draw(sweep)
    assert len(figure.axes) == 9  # a row for every SNR
    assert [row.get_suptitle() for row in figure.subfigs] == [f"SNR {x} dB" for x in (10, 20, 30)]
    active, error, accuracy = figure.axes[3:6]
    run = sweep.sel(algorithm="cotaf", snr_db=20.0)
    drawn = [axes.containers[1].lines[0].get_ydata() for axes in (active, error, accuracy)]
    np.testing.assert_allclose(
        drawn[0], 100 * run["active_fraction"].mean(["round", "client", "seed"])
    )
    decibels = 10 * np.log10(run["nmse"].median("round"))
    np.testing.assert_allclose(drawn[1], decibels.mean("seed"))
    np.testing.assert_allclose(drawn[2], 100 * run["accuracy"].mean("seed"))
