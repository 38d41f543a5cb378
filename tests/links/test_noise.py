"""The error of a link without fading is the noise it should be: variance, whiteness, law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from links import FadingLink, GaussianLink, OfdmLink, WaveformLink
from phy import NoFading
from tests.tolerance import check_mean

LENGTH, GAIN = 20_001, 0.003
LINKS = {
    "gaussian": GaussianLink,
    "fading": lambda **options: FadingLink(fading=NoFading(), **options),
    "ofdm": lambda **options: OfdmLink(fading=NoFading(), **options),
    "ofdm, sionna": lambda **options: OfdmLink(fading=NoFading(), engine="sionna", **options),
    "ofdm, in order": lambda **options: OfdmLink(
        fading=NoFading(), interleaver_seed=None, **options
    ),
    "waveform": lambda **options: WaveformLink(fading=NoFading(), **options),
    "ofdm, round budget": lambda **options: OfdmLink(fading=NoFading(), budget="round", **options),
}


def errors(link, rng):
    signals = rng.standard_normal((3, LENGTH)).astype(np.float32)
    sent = link.open(3, LENGTH, rng).send(signals, GAIN, enforce=False)
    return sent.total - signals.sum(axis=0)


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("snr_db", [-1.0, 10.0, 20.0])
def test_error_variance_is_sigma_squared_over_gain_squared(name, snr_db, rng):
    error = errors(LINKS[name](snr_db=snr_db), rng) * GAIN
    variance = 10 ** (-snr_db / 10)
    check_mean(np.square(error), variance)
    check_mean(error, 0.0)
    check_mean(error[:-1] * error[1:], 0.0)  # I and Q, and neighbours, are independent
    assert stats.kstest(error / np.sqrt(variance), "norm").pvalue > 1e-7


@pytest.mark.parametrize("name", LINKS)
def test_entry_snr_is_the_power_of_an_entry_over_its_noise(name, rng):
    error = errors(LINKS[name](entry_snr_db=3.0), rng) * GAIN
    check_mean(np.square(error), 1 / (LENGTH * 10**0.3))


@pytest.mark.parametrize("name", LINKS)
def test_power_changes_no_noise_and_the_reference_does(name, rng):
    loud = errors(LINKS[name](snr_db=0.0, power=100.0), rng) * GAIN
    check_mean(np.square(loud), 1.0)
    scaled = errors(LINKS[name](snr_db=0.0, reference_power=100.0), rng) * GAIN
    check_mean(np.square(scaled), 100.0)


@pytest.mark.parametrize("name", LINKS)
def test_no_noise_at_infinite_snr(name, rng):
    assert np.abs(errors(LINKS[name](snr_db=np.inf), rng)).max() < 1e-5
