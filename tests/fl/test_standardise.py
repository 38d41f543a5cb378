"""Inputs of zero mean and unit deviation."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Dataset, standardise


def bytes_of(*values, shape=()):
    return np.array(values, np.uint8).reshape(-1, *shape)


def pictures(rng, samples=50):
    x = rng.normal([1.0, -2.0, 5.0], [1.0, 0.5, 3.0], (samples, 4, 4, 3)).astype(np.float32)
    return Dataset(x, np.arange(samples) % 2, x[:10] + 1, np.arange(10) % 2)


def test_bytes_by_hand():
    """(51 / 255 - 0.1) / 0.5 = 0.2, (255 / 255 - 0.1) / 0.5 = 1.8."""
    data = Dataset(bytes_of(51, 255, shape=(1,)), np.array([0, 1]), bytes_of(0, shape=(1,)),
                   np.array([1]))  # fmt: skip
    found = standardise(data, mean=0.1, deviation=0.5)
    np.testing.assert_allclose(found.x_train[:, 0], [0.2, 1.8], rtol=1e-6)
    np.testing.assert_allclose(found.x_test[:, 0], [-0.2], rtol=1e-6)
    assert found.x_train.dtype == found.x_test.dtype == np.float32
    assert data.x_train.dtype == np.uint8
    np.testing.assert_array_equal(found.y_train, data.y_train)


def test_channels_are_measured_on_the_training_samples(rng):
    data = pictures(rng)
    found = standardise(data)
    np.testing.assert_allclose(found.x_train.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(found.x_train.std((0, 1, 2)), 1, rtol=1e-5)
    deviation = data.x_train.std((0, 1, 2))
    np.testing.assert_allclose(
        found.x_test - found.x_train[:10], 1 / deviation * np.ones((10, 4, 4, 3)), atol=1e-4
    )


def test_vectors_are_measured_as_a_whole(rng):
    x = rng.normal(3.0, 2.0, (40, 6)) * np.arange(1, 7)
    found = standardise(Dataset(x.astype(np.float32), np.arange(40) % 2, x[:5], np.arange(5) % 2))
    assert found.x_train.mean() == pytest.approx(0, abs=1e-5)
    assert found.x_train.std() == pytest.approx(1, rel=1e-5)
    deviations = found.x_train.std(axis=0)  # not feature by feature
    assert deviations.max() > 2 * deviations.min()


def test_one_may_be_given_and_the_other_measured(rng):
    data = pictures(rng)
    found = standardise(data, mean=[1.0, 2.0, 3.0])
    expected = (data.x_train - [1.0, 2.0, 3.0]) / data.x_train.std((0, 1, 2), np.float64)
    np.testing.assert_allclose(found.x_train, expected, atol=1e-4)
    found = standardise(data, deviation=2.0)
    np.testing.assert_allclose(found.x_train.mean((0, 1, 2)), 0, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deviation": 0.0}, "deviation must be > 0, got 0"),
        ({"deviation": [1.0, -1.0, 1.0]}, "deviation must be > 0"),
        ({"mean": [1.0, 2.0]}, "mean must be a finite number, or one for each of 3 channels"),
        ({"mean": np.inf}, "mean must be a finite number"),
        ({"mean": "small"}, "mean must be a number, or one per channel, got 'small'"),
        ({"deviations": 1.0}, "did you mean 'deviation'"),
    ],
)
def test_refused(options, message, rng):
    with pytest.raises((ValueError, TypeError), match=message):
        standardise(pictures(rng), **options)


def test_constant_samples_are_refused():
    data = Dataset(np.ones((4, 2), np.float32), np.arange(4) % 2, np.ones((2, 2)), np.arange(2))
    with pytest.raises(ValueError, match="deviation must be > 0, got 0.0 in the training samples"):
        standardise(data)
