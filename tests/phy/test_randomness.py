"""Complex noise, and streams that belong to a device."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from phy.randomness import CACHED, complex_normal, device_key, device_stream
from tests.tolerance import check_mean


@pytest.mark.parametrize("std", [1.0, 0.03])
def test_complex_normals_are_gaussian_circular_and_white(std, rng):
    samples = complex_normal(rng, (3, CACHED), std).ravel()  # across pieces too
    for part in (samples.real, samples.imag):
        scaled = part.astype(np.float64) / (std * np.sqrt(0.5))
        check_mean(scaled, 0.0)
        check_mean(scaled**2, 1.0)
        check_mean(scaled**4, 3.0)
        check_mean(scaled[:-1] * scaled[1:], 0.0)
        assert stats.kstest(scaled, "norm").pvalue > 1e-7
    check_mean(samples.real * samples.imag, 0.0)
    strength = np.square(np.abs(samples), dtype=np.float64) / std**2
    assert stats.kstest(strength, "expon").pvalue > 1e-7


def test_the_largest_draws_are_finite():
    class Extreme:
        def random(self, shape, dtype):
            return np.full(shape, np.nextafter(np.float32(1), np.float32(0)))

    value = complex_normal(Extreme(), (1,))
    assert np.abs(value) == pytest.approx(np.sqrt(24 * np.log(2)), rel=1e-3)


def test_shapes_and_no_spread(rng):
    assert complex_normal(rng, ()).shape == ()
    assert complex_normal(rng, (2, 0, 3)).shape == (2, 0, 3)
    assert not complex_normal(rng, (4,), std=0.0).any()


def test_devices_are_told_apart_and_their_source_is_left_as_it_was(rng):
    state = rng.bit_generator.state
    key = device_key(rng, np.random.default_rng(1))
    assert rng.bit_generator.state == state
    assert device_key(rng, np.random.default_rng(2)) == key
    draws = {client: device_stream(key, client).random() for client in range(5)}
    assert len(set(draws.values())) == 5
    assert device_stream(key, 3).random() == draws[3]
