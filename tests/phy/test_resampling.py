"""Fractional delays and drifts, against tones that are known at any time."""

from __future__ import annotations

import numpy as np
import pytest

from phy.randomness import complex_normal
from phy.resampling import delayed


def test_delays_by_whole_samples_are_shifts(rng):
    samples = complex_normal(rng, (3, 50))
    out = delayed(samples, np.array([0.0, 4.0, -7.0]))
    np.testing.assert_array_equal(out[0], samples[0])
    np.testing.assert_array_equal(out[1], np.concatenate([np.zeros(4), samples[1, :-4]]))
    np.testing.assert_array_equal(out[2], np.concatenate([samples[2, 7:], np.zeros(7)]))
    assert not delayed(samples, np.full(3, 60.0)).any()


@pytest.mark.parametrize("frequency", [0.0, 0.2, -0.39])
def test_delays_and_drifts_are_those_of_a_tone(frequency):
    """A tone within the band, known at any time, away from the ends."""
    n = np.arange(2000)
    tone = np.exp(2j * np.pi * frequency * n).astype(np.complex64)
    delay, drift = np.array([0.3, -2.71, 5.5]), np.array([0.0, 1e-4, -2e-3])
    out = delayed(np.tile(tone, (3, 1)), delay, drift)
    times = n - delay[:, None] - drift[:, None] * n
    expected = np.exp(2j * np.pi * frequency * times)
    np.testing.assert_allclose(out[:, 50:-50], expected[:, 50:-50], atol=4e-4)


def test_within_084_of_the_band_a_delay_is_accurate_to_2e_4():
    """Up to 0.42 of the sampling rate, for any fraction of a sample; documented."""
    n = np.arange(200)
    frequencies = np.linspace(-0.42, 0.42, 43)
    tones = np.exp(2j * np.pi * np.outer(frequencies, n)).astype(np.complex64)
    for delay in (0.1, 0.3, 0.5, 0.8):
        out = delayed(tones, np.full(43, delay))
        expected = np.exp(2j * np.pi * np.outer(frequencies, n - delay))
        assert np.abs(out - expected)[:, 30:-30].max() < 2e-4


def test_a_fractional_delay_is_a_sum_of_kernels_and_zero_beyond_the_ends():
    """One impulse: the kernel itself, sinc times Kaiser's window of beta 8 and reach 16."""
    samples = np.zeros((1, 60), np.complex64)
    samples[0, 30] = 1
    out = delayed(samples, np.array([0.25]))
    offsets = np.arange(60) - 30.25
    inside = np.abs(offsets) < 16
    window = np.i0(8 * np.sqrt(np.where(inside, 1 - (offsets / 16) ** 2, 0))) / np.i0(8)
    expected = np.where(inside, np.sinc(offsets) * window, 0)
    np.testing.assert_allclose(out[0], expected, atol=1e-6)
