"""What figures share: panels, labels, means and confidence."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.stats import t as student

from figures import (
    panels,
)


def test_bars_of_a_percentage_end_where_it_does():
    bars = panels.within_percent(np.array([90.0, 10.0, 50.0]), np.array([20.0, 30.0, np.nan]))
    np.testing.assert_array_equal(bars, [[20.0, 10.0, np.nan], [10.0, 30.0, np.nan]])


def test_the_seed_of_which_most_is_done():
    done = xr.DataArray([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]], dims=["x", "seed"])
    study = xr.Dataset({"finished": done}, {"seed": [5, 6, 7]})
    assert int(panels.one_seed(study)["seed"]) == 6


def test_panels_that_find_no_room_are_counted():
    shape = (5, 6)
    study = xr.Dataset({"finished": (("a", "b"), np.ones(shape))}, {"a": range(5), "b": range(6)})
    figure, pairs = panels.panels(study)
    assert len(pairs) == panels.MAX_PANELS
    assert figure.get_suptitle() == "the first 20 of 30 panels"


def test_confidence_by_hand():
    values = xr.DataArray([[1.0, 2.0, 6.0], [3.0, np.nan, np.nan]], dims=["x", "seed"])
    mean, half = panels.mean_and_confidence(values)
    assert mean.tolist() == [3.0, 3.0]
    expected = student.ppf(0.975, 2) * np.sqrt(7.0) / np.sqrt(3)
    np.testing.assert_allclose(half, [expected, np.nan])


def test_labels_come_from_the_table_of_metrics_and_the_dataset(sweep):
    assert panels.metric_label("airtime") == "time on the air [s]"
    assert panels.metric_label("test_accuracy", "%") == "test accuracy [%]"
    assert panels.metric_label("nmse", "dB", "median over rounds") == (
        "NMSE, median over rounds [dB]"
    )
    assert panels.axis_label(sweep, "snr_db") == "SNR [dB]"
    assert panels.axis_label(sweep, "truncation") == r"truncation threshold $g$ on $|h|^2$"
    assert panels.value_label("snr_db", 10.0) == "SNR 10 dB"
    assert panels.value_label("truncation", 0.1) == "$g$ = 0.1"
    assert panels.value_label("algorithm", "acpc") == "ACPC-OTA-FL"
