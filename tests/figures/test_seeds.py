"""The spread over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.stats import t as student

from figures.seeds import summarise, words


def over_seeds(*rows):
    return xr.DataArray(list(rows), dims=["x", "seed"])


def test_few_seeds_have_a_range():
    mean, low, high = summarise(over_seeds([1.0, 2.0, 6.0], [3.0, np.nan, np.nan]), few=True)
    assert mean.values.tolist() == [3.0, 3.0]
    np.testing.assert_array_equal(low, [1.0, np.nan])  # a single run has no spread
    np.testing.assert_array_equal(high, [6.0, np.nan])


def test_five_seeds_have_a_confidence_interval_by_hand():
    mean, low, high = summarise(over_seeds([1.0, 2.0, 3.0, 4.0, 10.0]), few=False)
    half = student.ppf(0.975, 4) * np.sqrt(12.5 / 5)  # sum of squares 9 + 4 + 1 + 0 + 36 = 50
    np.testing.assert_allclose([mean[0], low[0], high[0]], [4.0, 4 - half, 4 + half])
    assert abs(half - 4.3899) < 1e-3


def test_a_single_run_has_no_spread():
    mean, low, high = summarise(xr.DataArray([1.0, 2.0], dims=["x"]), few=True)
    assert mean.values.tolist() == [1.0, 2.0]
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_the_caption_says_which():
    def study(*seeds):
        done = np.array([np.arange(max(seeds)) < each for each in seeds], float)
        return xr.Dataset({"finished": (("x", "seed"), done)})

    assert words(study(1)) == ""
    assert words(study(3), "box") == "quartiles and range over 3 seeds"
    assert words(study(3), "heatmap") == "mean over 3 seeds"
    assert words(study(5, 2, 0)) == "mean and range over 2 to 5 seeds"
    assert words(study(3)) == "mean and range over 3 seeds"
    assert words(study(5)) == ("mean and 95 % confidence interval (Student's t) over 5 seeds")


def test_the_interval_has_the_degrees_of_freedom_of_each_point():
    _, low, _ = summarise(
        over_seeds([1.0, 2.0, 3.0, 4.0, 10.0], [0.0, 2.0, *[np.nan] * 3]), few=False
    )
    assert float(low[1]) == 1 - student.ppf(0.975, 1) * np.sqrt(2.0 / 2)
