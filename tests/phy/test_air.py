"""The air in samples: propagation against np.convolve, and where the shortcut holds."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid, PerfectCsi
from phy.air import FastAir
from phy.randomness import complex_normal
from phy.time_channel import draw_time_channel
from tests.phy.given import fixed, turning

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3)
SAMPLE = 1 / GRID.sampling_rate
GAINS = np.array([[0.7, 0.2 - 0.5j], [0.3j, -0.6]])
AMPLITUDE = np.array([1.0, 2.5])


def channel_of(fading, num_symbols=3):
    return draw_time_channel(
        GRID,
        fading,
        PerfectCsi(),
        clients=np.arange(2),
        path_gain=AMPLITUDE**2,
        num_symbols=num_symbols,
        time=0.0,
        rng=np.random.default_rng(0),
        device_rng=None,
    )[0]


@pytest.mark.parametrize("places", [[0.0, 4.0], [0.3, 5.6]])
def test_what_arrives_is_the_convolution_from_the_first_lag_on(places, rng):
    channel = channel_of(fixed(GAINS, np.array(places) * SAMPLE))
    samples = complex_normal(rng, (2, 240))
    taps = channel.taps(0, GRID)[:, 0].astype(complex)
    expected = np.array(
        [a * np.convolve(x, h) for a, x, h in zip(AMPLITUDE, samples, taps, strict=True)]
    )
    air = FastAir(GRID, AMPLITUDE)
    np.testing.assert_allclose(air.propagate(samples, channel, 0, add=False), expected, atol=2e-5)
    np.testing.assert_allclose(air.propagate(samples, channel, 0), expected.sum(0), atol=3e-5)


def test_each_slot_has_the_channel_of_its_time(rng):
    """A path that turns: at output b of a slot, its gain at that time, by loops in float64."""
    fading = turning(
        GAINS, np.array([[300.0, -200.0], [100.0, 250.0]]), np.array([0.0, 3.0]) * SAMPLE
    )
    channel = channel_of(fading, num_symbols=7)
    samples = complex_normal(rng, (2, 240))
    received = FastAir(GRID, AMPLITUDE).propagate(samples, channel, 1)
    times = (240 + np.arange(243)) * SAMPLE
    gains = fading.gains(times)
    expected = np.zeros(243, complex)
    for i in range(2):
        for path, lag in enumerate((0, 3)):
            expected[lag : lag + 240] += AMPLITUDE[i] * gains[i, lag : lag + 240, path] * samples[i]
    np.testing.assert_allclose(received, expected, atol=3e-5)


def both_ways(places, window_advance, rng):
    """What the server's FFTs see by the shortcut (or None), and through all samples."""
    channel = channel_of(fixed(GAINS, np.array(places) * SAMPLE))
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    air = FastAir(GRID, AMPLITUDE)
    first = channel.lags.first - window_advance

    def heard(received):
        silence = np.zeros(window_advance, np.complex64)
        return air.demodulate(np.concatenate([silence, received]), first, 3)

    samples = air.modulate(elements)
    short = air.shortcut(elements, channel, window_advance)
    slow = heard(air.propagate(samples, channel, 0))
    body = samples.reshape(2, 3, 80)[..., 16:]
    return short and heard(short[0]), slow, short and short[1], np.square(np.abs(body))


@pytest.mark.parametrize(
    ("places", "window_advance"),
    [([0.0, 16.0], 0), ([0.0, 9.0], 7), ([0.0, 0.0], 16), ([0.0, 3.0], 0)],
)
def test_up_to_prefix_plus_one_taps_the_shortcut_is_the_convolution(places, window_advance, rng):
    short, slow, power, sent = both_ways(places, window_advance, rng)
    assert short is not None
    np.testing.assert_allclose(short, slow, atol=2e-5)
    np.testing.assert_allclose(power, sent, atol=1e-5)


@pytest.mark.parametrize(
    ("places", "window_advance"), [([0.0, 17.0], 0), ([0.0, 9.0], 8), ([0.0, 0.5], 0)]
)
def test_beyond_the_prefix_there_is_no_shortcut(places, window_advance, rng):
    """Half a sample spills 13 taps to either side of its place: 28 taps against a prefix of 16."""
    assert both_ways(places, window_advance, rng)[0] is None


def test_one_sample_beyond_the_prefix_symbols_interfere(rng):
    """What the shortcut would have missed: 17 samples on a prefix of 16."""
    channel = channel_of(fixed(GAINS, np.array([0.0, 17.0]) * SAMPLE))
    air, elements = FastAir(GRID, AMPLITUDE), complex_normal(rng, (2, 3, GRID.num_carriers))
    heard = air.demodulate(air.propagate(air.modulate(elements), channel, 0), 0, 3)
    cyclic = np.einsum("i,ilk,iok->lk", AMPLITUDE, elements, channel.response)
    assert np.abs(heard - cyclic)[1:].max() > 1e-2
    fits = channel_of(fixed(GAINS, np.array([0.0, 16.0]) * SAMPLE))
    heard = air.demodulate(air.propagate(air.modulate(elements), fits, 0), 0, 3)
    cyclic = np.einsum("i,ilk,iok->lk", AMPLITUDE, elements, fits.response)
    np.testing.assert_allclose(heard, cyclic, atol=2e-5)


def test_a_moving_channel_has_no_shortcut(rng):
    channel = channel_of(turning(GAINS, np.full((2, 2), 9.0), np.zeros(2)))
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    assert FastAir(GRID, AMPLITUDE).shortcut(elements, channel, 0) is None


def test_a_server_that_listens_early_undoes_the_phase(rng):
    """Whole delays within the prefix: on each carrier the elements times the response."""
    channel = channel_of(fixed(GAINS, np.array([0.0, 4.0]) * SAMPLE))
    air, elements = FastAir(GRID, AMPLITUDE), complex_normal(rng, (2, 3, GRID.num_carriers))
    received = np.concatenate([np.zeros(8), air.propagate(air.modulate(elements), channel, 0)])
    heard = air.demodulate(received.astype(np.complex64), -8, 3)
    expected = np.einsum("i,ilk,iok->lk", AMPLITUDE, elements, channel.response)
    np.testing.assert_allclose(heard, expected, atol=2e-5)
