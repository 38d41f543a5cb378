"""Stochastic rounding, and the rate of a channel."""

from __future__ import annotations

import numpy as np
import pytest

from phy.digital import quantise, rounding_variance, spectral_efficiency
from tests.tolerance import check_mean


@pytest.mark.parametrize("bits", [1, 2, 8, 16])
def test_rounding_is_unbiased_and_as_noisy_as_it_should_be(bits, rng):
    vector = rng.standard_normal(50)
    received = np.array([quantise(vector, bits, rng) for _ in range(2000)])
    errors = received - vector
    check_mean(errors.sum(axis=1), 0.0)
    check_mean(np.square(errors).sum(axis=1), rounding_variance(vector, bits))
    step = 2 * np.abs(vector).max() / (2**bits - 1)
    assert np.abs(errors).max() <= step * (1 + 1e-9)
    assert np.abs(received).max() <= np.abs(vector).max() * (1 + 1e-9)


def test_by_hand():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(quantise(np.array([-1.0, 1.0]), 1, rng), [-1, 1])
    np.testing.assert_allclose(quantise(np.array([-3.0, -1.0, 1.0, 3.0]), 2, rng), [-3, -1, 1, 3])
    assert rounding_variance(np.array([-1.0, 0.0, 1.0]), 1) == pytest.approx(4 * 0.25)
    np.testing.assert_array_equal(quantise(np.zeros(3), 4, rng), 0)
    assert rounding_variance(np.zeros(3), 4) == 0


def test_a_gap_costs_snr_and_modulation_limits_the_rate():
    np.testing.assert_allclose(spectral_efficiency(np.array([0.0, 3.0]), 0.0, 8.0), [0, 2])
    np.testing.assert_allclose(spectral_efficiency(np.array([30.0]), 10.0, 8.0), [2])
    assert spectral_efficiency(np.array([np.inf]), 3.0, 8.0) == 8
