"""Moving channels: every link looks at them at the same instant, in the middle of a slot's data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, OfdmLink, WaveformLink
from phy import AgedCsi, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Tdl
from phy.convolution import between_knots

GRID = OfdmGrid(symbols_per_slot=6)
FADING = Tdl("B", delay_spread=200e-9, speed=30.0)
RIPPLE = 0.03  # of the pulses that WaveformLink's taps are made of; seen: 0.008


def channel_of(link, length, device, time=3.0, seed=1):
    """The channel of an uplink whose devices are given."""
    return link.open(
        2, length, np.random.default_rng(seed), time=time, device_rng=np.random.default_rng(device)
    ).medium.channel


def continuous(grid, fading, when, device):
    """The response of the paths themselves at some instants."""
    taps = fading.draw(np.arange(2), when, np.random.default_rng(0), np.random.default_rng(device))
    return taps.gains @ np.exp(-2j * np.pi * np.outer(fading.delays, grid.frequencies))


@pytest.mark.parametrize(
    ("symbols", "counts"),
    [(6, [6]), (1, [1]), (8, [6, 2]), (18, [6, 6, 6]), (13, [6, 6, 1])],
    ids=["full", "one symbol", "last short", "three", "last of one"],
)
@pytest.mark.parametrize(
    ("csi", "pilots", "age"),
    [
        (PerfectCsi(), 0, 0.0),
        (PilotCsi(snr_db=np.inf), 1, 0.0),
        (PilotCsi(snr_db=np.inf, num_pilots=3), 3, 0.0),
        (AgedCsi(0.7e-3), 0, 0.7e-3),
        (AgedCsi(0.4e-3, of=PilotCsi(snr_db=np.inf, num_pilots=2)), 2, 0.4e-3),
        (AgedCsi(0.3e-3, of=AgedCsi(0.4e-3)), 0, 0.7e-3),
    ],
    ids=["perfect", "pilot", "three pilots", "aged", "aged pilots", "aged twice"],
)
def test_ofdm_and_waveform_look_at_the_same_instant(csi, pilots, age, symbols, counts, rng):
    """In the middle of each slot's data, whose pilots come before it; worked out here."""
    device = int(rng.integers(2**32))
    length = 800 * symbols
    options = {"grid": GRID, "fading": FADING, "csi": csi}
    ofdm = channel_of(OfdmLink(**options), length, device)
    waveform = channel_of(WaveformLink(**options), length, device)
    period = (6 + pilots) * GRID.symbol_duration
    middles = 3.0 + np.array(
        [
            number * period + (pilots + count / 2) * GRID.symbol_duration
            for number, count in enumerate(counts)
        ]
    )
    now, seen = (continuous(GRID, FADING, middles - lag, device) for lag in (0.0, age))
    np.testing.assert_allclose(ofdm.response, now, atol=2e-5)
    np.testing.assert_allclose(ofdm.estimate, seen, atol=2e-5)
    np.testing.assert_allclose(waveform.response, now, atol=RIPPLE)
    np.testing.assert_allclose(waveform.estimate, seen, atol=RIPPLE)
    if age:
        assert np.abs(now - seen).max() > 5 * RIPPLE  # another instant would show


@pytest.mark.parametrize("pilots", [0, 8])
def test_whole_samples_leave_no_ripple(pilots, rng):
    """Flat fading needs one tap: then both links have the same numbers, pilots in the grid or not.

    WaveformLink also knows the carriers of the pilots.
    """
    device, grid = int(rng.integers(2**32)), replace(GRID, pilots=pilots)
    options = {"grid": grid, "fading": Rayleigh(speed=50.0), "csi": AgedCsi(1e-4)}
    ofdm = channel_of(OfdmLink(**options), 8 * 784, device)
    waveform = channel_of(WaveformLink(**options), 8 * 784, device)
    assert waveform.response.shape[2] == 400
    for one, other in (
        (ofdm.response, waveform.response),
        (ofdm.estimate, waveform.estimate),
    ):
        np.testing.assert_allclose(one, other[..., ~grid.is_pilot], atol=5e-5)


def test_flat_ofdm_and_waveform_links_agree_on_a_slot_that_is_full(rng):
    device = int(rng.integers(2**32))
    fading = Rayleigh(speed=30.0)
    flat, ofdm, waveform = (
        channel_of(link(fading=fading), 14 * 800, device).response[:, 0, 0]
        for link in (FadingLink, OfdmLink, WaveformLink)
    )
    np.testing.assert_allclose(flat, ofdm, atol=1e-5)
    np.testing.assert_allclose(waveform, ofdm, atol=5e-5)


@pytest.mark.parametrize("advance", [0, 7])
def test_the_discrete_channel_is_that_of_the_fading_at_any_sample(advance, rng):
    """Moving fading is a function of time, so it can be asked for at any instant."""
    device = int(rng.integers(2**32))
    link = WaveformLink(grid=GRID, fading=FADING, window_advance=advance)
    channel = channel_of(link, 800 * 8, device)
    assert channel.response.shape == (2, 2, 400)
    middles = 3.0 + np.array([3, 6 + 1]) * GRID.symbol_duration
    drawn = np.random.default_rng(device)
    still = FADING.draw(np.arange(2), middles, rng, drawn)
    lags = channel.lags
    assert lags.first == -13
    taps = np.arange(lags.first, lags.last + 1)
    away = taps - FADING.delays[:, None] * GRID.sampling_rate
    window = np.i0(4.3 * np.sqrt(np.maximum(1 - np.square(away / 14), 0))) / np.i0(4.3)
    pulses = np.where(np.abs(away) < 14, np.sinc(away) * window, 0)
    expected = still.gains @ pulses @ np.exp(-2j * np.pi * np.outer(taps, GRID.carriers) / 512)
    np.testing.assert_allclose(channel.response, expected, atol=1e-4)

    # and its paths at any sample of the second slot follow those of the fading
    at = np.arange(0, 1152 + lags.num_taps - 1)
    when = 3.0 + (6 * 576 + lags.first + at) / GRID.sampling_rate
    exact = FADING.draw(np.arange(2), when, rng, drawn).gains
    np.testing.assert_allclose(between_knots(channel.gains[1], at * 1.0, 288), exact, atol=2e-5)


def test_pilots_look_once_per_slot_and_ageing_looks_back(rng):
    grid = OfdmGrid(symbols_per_slot=4)
    fading = Tdl("A", speed=30.0)
    device = int(rng.integers(2**32))
    options = {"grid": grid, "fading": fading}
    piloted = channel_of(WaveformLink(csi=PilotCsi(snr_db=np.inf), **options), 8000, device)
    assert piloted.estimate.shape == (2, 3, 400)
    np.testing.assert_allclose(piloted.estimate, piloted.response, atol=1e-5)
    aged = channel_of(WaveformLink(csi=AgedCsi(1e-3), **options), 1600, device, time=1)
    fresh = channel_of(WaveformLink(**options), 1600, device, time=1 - 1e-3)
    np.testing.assert_allclose(aged.estimate, fresh.response, atol=1e-4)
    assert np.abs(aged.estimate - aged.response).max() > 0.01


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
def test_a_static_channel_does_not_age(link, rng):
    channel = link(fading=Rayleigh(), csi=AgedCsi(1.0)).open(2, 3000, rng).medium.channel
    np.testing.assert_array_equal(channel.estimate, channel.response)
    assert channel.response.shape[1] == 1


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
def test_csi_must_name_the_instants_it_looks_at(link, rng):
    class Forgetful(NoisyCsi):
        def estimate(self, observed, rng):
            return observed.response_before(1e-3)

    with pytest.raises(ValueError, match="observes the channel 0.001 s before it sends, but its"):
        link(fading=Rayleigh(speed=3.0), csi=Forgetful()).open(2, 9, rng)
