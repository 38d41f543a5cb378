"""Channels as long as the cyclic prefix, and longer by one tap, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from links import OfdmLink, OrthogonalLink, WaveformLink
from phy import OfdmGrid, Tdl
from tests.links.fixed import FixedFading

GRID = OfdmGrid(fft_size=16, cp_length=4, guards=(0, 0), dc_null=False)
CARRIERS = np.arange(-8, 8)
GAINS = np.array([[1.0, 0.4j], [0.8j, -0.3]])


def two_paths(last):
    """Paths at samples 0 and ``last``: a channel of last + 1 taps."""
    return FixedFading(GAINS, np.array([0.0, last]) / GRID.sampling_rate)


@pytest.mark.parametrize("link", [OfdmLink, OrthogonalLink])
def test_the_prefix_may_be_used_to_the_last_sample(link):
    link(grid=GRID, fading=two_paths(3))  # prefix taps
    link(grid=GRID, fading=two_paths(4))  # prefix + 1 taps: each FFT still sees one symbol
    message = (
        r"^fading must fit the cyclic prefix of 8\.33e-06 s \(cp_length = 4\), got a path of "
        r"1\.04e-05 s: give OfdmGrid\(cp_length=5\) .* WaveformLink"
    )
    with pytest.raises(ValueError, match=message):
        link(grid=GRID, fading=two_paths(5))
    with pytest.raises(ValueError, match=r"OfdmGrid\(cp_length=5\)"):
        link(grid=GRID, fading=two_paths(4.01))


def test_a_tdl_as_long_as_the_prefix_is_allowed():
    longest = 1e6 * Tdl("A", delay_spread=1e-6).delays.max()
    grid = OfdmGrid()
    OfdmLink(grid=grid, fading=Tdl("A", delay_spread=grid.cp_duration / longest))
    with pytest.raises(ValueError, match="cyclic prefix"):
        OfdmLink(grid=grid, fading=Tdl("A", delay_spread=1.001 * grid.cp_duration / longest))


def by_loops(signals, last, advance):
    """Modulate, convolve tap by tap, and demodulate, in float64 and sample by sample."""
    symbols = signals.shape[1] // 32
    data = signals[:, 0::2] + 1j * signals[:, 1::2]
    data = data.reshape(2, symbols, 16)
    heard = np.zeros(symbols * 20 + last, complex)
    for client in range(2):
        response = GAINS[client, 0] + GAINS[client, 1] * np.exp(-2j * np.pi * CARRIERS * last / 16)
        sent = []
        for symbol in range(symbols):
            elements = data[client, symbol] / response
            waves = np.exp(2j * np.pi * np.outer(np.arange(16), CARRIERS) / 16)
            body = [sum(wave * elements) / 4 for wave in waves]
            sent += body[12:] + body
        for n, sample in enumerate(sent):
            heard[n] += GAINS[client, 0] * sample
            heard[n + last] += GAINS[client, 1] * sample
    received = np.empty((symbols, 16), complex)
    for symbol in range(symbols):
        begin = symbol * 20 + 4 - advance
        window = heard[begin : begin + 16]
        for place, k in enumerate(CARRIERS):
            bins = sum(window[n] * np.exp(-2j * np.pi * k * n / 16) for n in range(16)) / 4
            received[symbol, place] = bins * np.exp(2j * np.pi * k * advance / 16)
    out = np.empty(signals.shape[1])
    out[0::2], out[1::2] = received.real.reshape(-1), received.imag.reshape(-1)
    return out


@pytest.mark.parametrize("advance", [0, 2])
@pytest.mark.parametrize("over", [-1, 0, 1, 2], ids=lambda over: f"{over:+d}")
@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_symbols_interfere_only_beyond_the_prefix(engine, over, advance, rng):
    last = GRID.cp_length - advance + over
    signals = rng.standard_normal((2, 3 * 32)).astype(np.float32)
    link = WaveformLink(
        grid=GRID,
        fading=two_paths(last),
        truncation=0.0,
        snr_db=np.inf,
        window_advance=advance,
        interleaver_seed=None,
        engine=engine,
    )
    uplink = link.open(2, signals.shape[1], rng)
    assert uplink.medium.channel.lags == (0, last)
    received = uplink.send(signals, 1e-3).total
    truth = signals.sum(axis=0, dtype=np.float64)
    expected = by_loops(signals.astype(np.float64), last, advance)
    np.testing.assert_allclose(received, expected, atol=3e-5)
    interference = np.square(expected - truth).mean()
    if over <= 0:
        assert interference < 1e-20
        np.testing.assert_allclose(received, truth, atol=3e-5)
    else:
        assert interference > 1e-3
