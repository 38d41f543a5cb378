"""pocketfft and Sionna's own blocks are the same air, and the channel is Sionna's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import WaveformLink
from otafl._base import lazy
from phy import NoisyCsi, OfdmGrid, Rayleigh, Tdl
from phy.air import FastAir
from phy.randomness import complex_normal
from phy.sionna_air import SionnaAir
from tests.links.fixed import FixedFading
from tests.links.test_waveform import EVERY_IMPAIRMENT, FADINGS, SMALL

MOVING = [
    Rayleigh(speed=50.0),
    Tdl("C", delay_spread=200e-9, speed=50.0),
    Tdl("D", delay_spread=100e-9, speed=5.0),
]


def test_its_csi_is_that_of_sionnas_discrete_channel(rng):
    """time_to_ofdm_channel of our taps, exactly, not the response of the continuous paths.

    cir_to_time_channel with a plain sinc so long that cutting it off does not matter is the same
    channel to a per cent on every used carrier.
    """
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.channel import cir_to_time_channel, time_to_ofdm_channel
    from sionna.phy.ofdm import ResourceGrid

    grid = OfdmGrid()
    channel = WaveformLink(fading=Tdl("A")).open(3, 100, rng).medium.channel
    resources = ResourceGrid(1, grid.fft_size, grid.subcarrier_spacing, cyclic_prefix_length=64)

    def on_carriers(taps, first):
        taps = tf.repeat(taps, grid.fft_size + 64 + taps.shape[-1], axis=-2)
        theirs = np.asarray(time_to_ofdm_channel(taps, resources, first))
        return theirs[:, 0, 0, 0, 0, 0, grid.carriers + grid.fft_size // 2]

    ours = tf.constant(channel.taps(0, grid)[:, None, None, None, None])
    exact = on_carriers(ours, channel.lags.first)
    np.testing.assert_allclose(channel.response[:, 0], exact, atol=2e-5)

    a = tf.constant(channel.gains[0][:, None, None, None, None].swapaxes(-1, -2))
    tau = tf.constant(np.tile(channel.delays, (3, 1, 1, 1)), tf.float32)
    rate = tf.constant(grid.sampling_rate, tf.float32)
    long = on_carriers(cir_to_time_channel(rate, a, tau, -60, 60), -60)
    paths = np.abs(channel.gains[0]).sum(axis=-1)  # whose errors add up at worst
    assert (np.abs(channel.response[:, 0] - long) < 0.02 * paths).all()
    mean = np.sqrt(np.square(np.abs(channel.response[:, 0] - long)).mean())
    assert mean < 0.01 * paths.mean()


@pytest.mark.parametrize("fading", [*FADINGS, *MOVING], ids=str)
@pytest.mark.parametrize("num_samples", [96, 480, 1000])
def test_the_air_is_sionnas_sample_by_sample(fading, num_samples, rng):
    clients = 3
    symbols = -(-num_samples // 96)
    link = WaveformLink(grid=replace(SMALL, symbols_per_slot=symbols), fading=fading)
    channel = link.open(clients, 2 * 54 * symbols, rng).medium.channel
    samples = complex_normal(rng, (clients, num_samples))
    amplitude = np.array([1.0, 0.3, 2.0])
    for add in (True, False):
        ours, theirs = (
            air(SMALL, amplitude).propagate(samples, channel, 0, add=add)
            for air in (FastAir, SionnaAir)
        )
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("fading", [*FADINGS, *MOVING], ids=str)
@pytest.mark.parametrize("impairments", [{}, EVERY_IMPAIRMENT], ids=["clean", "impaired"])
def test_engines_agree_on_a_round_in_samples(fading, impairments, rng):
    link = WaveformLink(
        grid=replace(SMALL, pilots=4),
        fading=fading,
        entry_snr_db=20,
        csi=NoisyCsi(0.01),
        **impairments,
    )
    seed = int(rng.integers(2**32))
    signals = rng.standard_normal((3, 901)).astype(np.float32)
    results = []
    for engine in ("fast", "sionna"):
        drawn, device = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        uplink = replace(link, engine=engine).open(3, 901, drawn, device_rng=device, time=1.0)
        results.append(uplink.send(signals, uplink.max_gain(signals)))
    ours, theirs = results
    # a sample on the edge of an ADC's step may fall to either side
    error = np.linalg.norm(ours.total - theirs.total) / np.linalg.norm(theirs.total)
    assert error < (2e-2 if impairments else 1e-4)
    np.testing.assert_allclose(ours.energy, theirs.energy, rtol=1e-4)
    for name, value in theirs.diagnostics.items():
        np.testing.assert_allclose(
            ours.diagnostics[name],
            value,
            rtol=2e-3,
            atol=1e-2 if impairments else 1e-5,
            err_msg=name,
        )


@pytest.mark.parametrize("cp_length", [2, 5, 12])
def test_a_prefix_that_is_too_short_fails_as_in_stock_sionna(cp_length, rng):
    """Interference between symbols and carriers, by blocks of Sionna's put together here."""
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.channel import ApplyTimeChannel
    from sionna.phy.ofdm import OFDMDemodulator, OFDMModulator

    grid = OfdmGrid(fft_size=64, cp_length=cp_length, guards=(5, 4))
    gains = complex_normal(rng, (2, 4)) + np.array([[2], [2j]])
    delays = np.array([0.0, 3.3, 7.1, 10.0]) / grid.sampling_rate
    link = WaveformLink(
        grid=grid, fading=FixedFading(gains, delays), snr_db=np.inf, interleaver_seed=None
    )
    length = 2 * grid.num_carriers * 6
    signals = rng.standard_normal((2, length)).astype(np.float32)
    uplink = link.open(2, length, rng)
    received = uplink.send(signals, 1e-3, enforce=False).total

    lags = uplink.medium.channel.lags
    data = signals.reshape(2, 6, grid.num_carriers, 2) @ np.array([1, 1j])
    response = uplink.medium.channel.response
    sent = np.zeros((2, 6, 64), np.complex64)
    strong = np.abs(response) ** 2 > 0.05
    sent[..., grid.carriers + 32] = data * np.where(strong, 1 / response, 0)
    samples = OFDMModulator(cp_length)(tf.constant(sent[None, :, None]))
    num_outputs = samples.shape[-1] + lags.num_taps - 1
    each = uplink.medium.channel.taps(0, grid)[None, None, None, :, None]
    taps = tf.constant(np.repeat(each, num_outputs, axis=-2))
    arrived = ApplyTimeChannel(samples.shape[-1], lags.num_taps)(samples, taps)
    first = -max(0, min(cp_length - 10, 13))  # what a path of ten samples leaves of the prefix
    assert uplink.medium.samples.first_sample(uplink.medium.channel) == first
    arrived = arrived[..., first - lags.first :][..., : 6 * (64 + cp_length)]
    theirs = np.asarray(OFDMDemodulator(64, first, cp_length)(arrived))[0, 0, 0]
    theirs = theirs[:, grid.carriers + 32].reshape(-1).view(np.float32)
    np.testing.assert_allclose(received, theirs, atol=1e-4 * np.abs(theirs).max())
    truth = (data * strong).sum(axis=0).reshape(-1).astype(np.complex64).view(np.float32)
    assert np.square(theirs - truth).mean() > 1e-8 * np.square(truth).mean()


def test_a_window_too_early_for_the_channel_meets_the_symbol_before(rng):
    """Then there is no shortcut, and the engines still agree."""
    signals = rng.standard_normal((3, 901)).astype(np.float32)
    seed = int(rng.integers(2**32))
    grid, totals = replace(SMALL, cp_length=40), []
    for engine in ("fast", "sionna"):
        link = WaveformLink(
            grid=grid,
            fading=Tdl("A", delay_spread=500e-9),
            snr_db=np.inf,
            truncation=0.0,
            window_advance=36,
            engine=engine,
        )
        uplink = link.open(3, 901, np.random.default_rng(seed))
        assert grid.cp_length - 36 < uplink.medium.channel.lags.num_taps - 1 <= grid.cp_length
        totals.append(uplink.send(signals, uplink.max_gain(signals)).total)
    error = np.linalg.norm(totals[0] - totals[1])
    assert error < 1e-4 * np.linalg.norm(totals[1])
    assert np.linalg.norm(totals[0] - signals.sum(axis=0)) > 100 * error
