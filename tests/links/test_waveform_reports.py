"""What a round over WaveformLink reports: energy, power, SNR, PAPR and clipping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from phy import NoFading, OfdmGrid
from phy.impairments import Adc, CarrierOffset, ClipAndFilter, Rapp, SoftLimiter
from phy.waveform import modulate

SMALL = OfdmGrid(fft_size=64, cp_length=32, guards=(5, 4), symbols_per_slot=5)


@pytest.mark.parametrize("clean", [True, False])
def test_energy_is_of_elements_and_what_is_radiated_has_prefix_and_pilots(clean, rng):
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False, pilots=8)
    power = 5.0
    link = WaveformLink(
        grid=grid,
        fading=NoFading(),
        power=power,
        entry_snr_db=100,
        transmit=() if clean else (CarrierOffset(offset=0.01),),
    )
    signals = rng.standard_normal((2, 2 * 56 * 10)).astype(np.float32)
    uplink = link.open(2, signals.shape[1], rng)
    gain = uplink.max_gain(signals)
    received = uplink.send(signals, gain)
    np.testing.assert_allclose(
        received.energy.sum(axis=1), gain**2 * np.square(signals).sum(axis=1), rtol=1e-4
    )
    assert np.max(received.energy / uplink.budget) == pytest.approx(1, rel=1e-5)
    pilots = 8 / 56 * power  # each of the mean power that a data element is allowed
    samples = modulate(grid, _with_pilots(grid, uplink, signals, gain, power))
    radiated = np.square(np.abs(samples)).sum(axis=1)
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], radiated, rtol=1e-4)
    body = received.energy.sum(axis=1) + pilots
    np.testing.assert_allclose(radiated, body * 80 / 64, rtol=0.1)  # prefixes differ a little
    mean = power / (10 * 64)
    np.testing.assert_allclose(
        received.diagnostics["average_power"], radiated / (800 * mean), rtol=1e-4
    )
    peak = np.square(np.abs(samples)).max(axis=1) / mean
    np.testing.assert_allclose(received.diagnostics["peak_power"], peak, rtol=1e-4)


def _with_pilots(grid, uplink, signals, gain, power):
    from phy.csi import qpsk_pilots

    elements = np.empty((2, 10, 64), np.complex64)
    elements[..., ~grid.is_pilot] = gain * uplink.medium.packing.pack(signals)
    elements[..., grid.is_pilot] = np.sqrt(power / (10 * 56)) * qpsk_pilots(1, 8)
    return elements


@pytest.mark.parametrize("power", [1e-6, 1.0, 1e6])
def test_backoff_is_relative_to_the_budget_not_to_the_update(power, rng):
    """The same relative clipping at any power, and less of it for a quiet update."""
    link = WaveformLink(
        fading=NoFading(), power=power, snr_db=np.inf, transmit=(SoftLimiter(backoff_db=3),)
    )
    signals = rng.standard_normal((1, 8000)).astype(np.float32)
    uplink = link.open(1, 8000, rng)
    gain = np.sqrt(power / np.square(signals).sum())  # the mean power that is allowed
    loud = uplink.send(signals, gain, enforce=False).diagnostics
    # Gaussian samples of variance 1 beyond 10^(3/20): exp(-10^0.3), of which 5760 are looked at
    assert loud["clip_rate"][0] == pytest.approx(np.exp(-(10**0.3)), rel=0.2)
    assert loud["peak_power"][0] == pytest.approx(10**0.3, rel=1e-4)
    quiet_one = uplink.send(signals, gain / 10).diagnostics
    assert quiet_one["clip_rate"][0] == 0
    assert quiet_one["nmse"] < 1e-10


def test_silence_and_rounds_far_from_the_budget(rng):
    link = WaveformLink(grid=SMALL, transmit=(Rapp(),), receive=(Adc(),), snr_db=20.0)
    signals = rng.standard_normal((2, 300))
    uplink = link.open(2, 300, rng)
    silent = uplink.send(np.zeros((2, 300)), np.inf)
    assert not silent.total.any()
    for gain in (1e-11, 1e-12):
        assert np.isfinite(uplink.send(signals, gain).total).all()
    assert np.isfinite(uplink.send(signals, 1e12, enforce=False).total).all()


def test_papr_of_every_symbol(rng):
    from phy.waveform import papr

    link = WaveformLink(grid=SMALL, fading=NoFading(), transmit=(ClipAndFilter(backoff_db=3),))
    signals = rng.standard_normal((50, 2 * 54 * 7)).astype(np.float32)
    uplink = link.open(50, signals.shape[1], rng)
    assert uplink.medium.papr_db(signals, 1.0).shape == (50, 7)
    quiet_one = uplink.medium.papr_db(signals, 1e-9)  # nothing is clipped
    plain = 10 * np.log10(papr(SMALL, uplink.medium.packing.pack(signals), oversampling=4))
    np.testing.assert_allclose(quiet_one, plain, rtol=1e-5)
    loud = uplink.medium.papr_db(signals, uplink.max_gain(signals))
    gained = (plain - loud).mean(axis=1)  # about a decibel, whatever the draw
    assert gained.mean() - 5 * gained.std() / np.sqrt(50) > 0.5
    report = uplink.send(signals, uplink.max_gain(signals)).diagnostics
    np.testing.assert_allclose(report["papr_db"], loud[:, 0], rtol=1e-4)


@pytest.mark.parametrize("pilots", [0, 8])
@pytest.mark.parametrize("impairments", [{}, {"receive": (Adc(24),)}], ids=["clean", "long way"])
def test_received_snr_is_that_of_the_ofdm_link(pilots, impairments, rng):
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4), pilots=pilots)
    options = {"grid": grid, "fading": NoFading(), "entry_snr_db": 3.0}
    signals = rng.standard_normal((2, 1000)).astype(np.float32)
    ofdm = OfdmLink(**options).open(2, 1000, rng).send(signals, 1e-3).diagnostics
    ours = WaveformLink(**options, **impairments).open(2, 1000, rng).send(signals, 1e-3).diagnostics
    np.testing.assert_allclose(ours["received_snr_db"], ofdm["received_snr_db"], atol=1e-3)


def test_clip_rates_are_means_over_all_symbols(rng):
    """One loud symbol counts the same wherever it is, and so does a slot by its length."""
    grid = replace(SMALL, symbols_per_slot=5)
    for impairments in ((SoftLimiter(backoff_db=3),), (ClipAndFilter(backoff_db=3),)):
        link = WaveformLink(
            grid=grid, fading=NoFading(), snr_db=np.inf, transmit=impairments, interleaver_seed=None
        )
        rates = []
        for loud in (0, 1, 6):  # in the first slot of five, in the second of two
            signals = np.full((1, 7, 2 * 54), 1e-6, np.float32)
            signals[:, loud] = np.random.default_rng(3).standard_normal(2 * 54)
            uplink = link.open(1, signals.size, rng)
            gain = uplink.max_gain(signals.reshape(1, -1))
            rates.append(uplink.send(signals.reshape(1, -1), gain).diagnostics["clip_rate"][0])
        assert rates[0] > 0.005
        np.testing.assert_allclose(rates, rates[0], rtol=0.01)


def test_the_servers_clip_rate_is_of_i_and_q(rng):
    link = WaveformLink(fading=NoFading(), snr_db=np.inf, receive=(Adc(bits=8, backoff_db=6.0),))
    signals = rng.standard_normal((1, 80_000)).astype(np.float32)
    report = link.open(1, 80_000, rng).send(signals, 1e-3).diagnostics
    from scipy.stats import norm

    assert report["receiver_clip_rate"] == pytest.approx(2 * norm.sf(10**0.3), rel=0.1)
    assert "clip_rate" not in report
