"""Every impairment against its closed form, through the whole link on a fully loaded grid.

Numbers of oracles are those of the validation report.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erfc, exp1, j0

from links import WaveformLink
from otafl._base import lazy
from phy import NoFading, OfdmGrid, Rayleigh
from phy.fading import SPEED_OF_LIGHT
from phy.impairments import (
    Adc,
    CarrierOffset,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    SoftLimiter,
    TimingOffset,
    theory,
)
from phy.waveform import papr
from tests.links.fixed import FULL, SYMBOLS, FixedFading, through
from tests.tolerance import check_mean


@pytest.mark.parametrize("symbol", [0, 4, 9])
@pytest.mark.parametrize("linewidth", [100.0, 2000.0])
def test_oracle_5_phase_noise(symbol, linewidth, rng):
    """E[e^{j phi}] = exp(-pi dv t), and so an error of 2 (1 - exp(-pi dv t)) at every sample."""
    sent, received = through(rng, transmit=(PhaseNoise(linewidth),), count=1500)
    expected = theory.phase_noise(FULL, linewidth, symbol)
    times = (symbol * 80 + 16 + np.arange(64)) / FULL.sampling_rate
    decay = np.exp(-np.pi * linewidth * times)
    assert expected.nmse == pytest.approx(np.mean(2 * (1 - decay)), rel=1e-9)
    sent, received = sent[:, symbol], received[:, symbol]
    correlation = (received * sent.conj()).real.mean(axis=1)
    power = np.square(np.abs(sent)).mean(axis=1)
    check_mean(correlation - expected.gain * power, 0.0)
    error = np.square(np.abs(received - sent)).mean(axis=1)
    check_mean(error, float(expected.nmse))


def test_oracle_5_a_phase_error_of_known_variance(rng):
    """Where the phase has the variance s^2 = 2 pi dv t: gain exp(-s^2/2), error twice the rest."""
    linewidth = 3000.0
    sent, received = through(rng, transmit=(PhaseNoise(linewidth),), count=1500)
    middle = (9 * 80 + 16 + 31.5) / FULL.sampling_rate
    variance = 2 * np.pi * linewidth * middle
    turned = (received[:, 9] * sent[:, 9].conj()).sum(axis=1)
    turned /= np.square(np.abs(sent[:, 9])).sum(axis=1)
    # the interference between carriers is small beside the common phase
    check_mean(np.cos(np.angle(turned)), float(np.exp(-variance / 2)))


@pytest.mark.parametrize("offset", [0, 1, 7, 16])
def test_oracle_7_a_late_slot_inside_the_prefix_is_a_phase_ramp(offset, rng):
    sent, received = through(rng, transmit=(TimingOffset(offset),), count=3)
    ramp = np.exp(-2j * np.pi * FULL.carriers * offset / 64)
    np.testing.assert_allclose(received, sent * ramp, atol=2e-5)


@pytest.mark.parametrize("late", [1, 5, 20])
def test_oracle_7_beyond_the_prefix_symbols_interfere(late, rng):
    """Amplitude (N - d) / N and interference 1 - ((N - d) / N)^2."""
    sent, received = through(rng, transmit=(TimingOffset(16 + late),))
    ramp = np.exp(-2j * np.pi * FULL.carriers * (16 + late) / 64)
    expected = theory.late_slot(FULL, late)
    assert expected.gain == pytest.approx((64 - late) / 64)
    sent, received = sent[:, 1:], received[:, 1:] / ramp
    correlation = (received * sent.conj()).real.mean(axis=(1, 2))
    power = np.square(np.abs(sent)).mean(axis=(1, 2))
    check_mean(correlation - expected.gain * power, 0.0)
    rest = np.square(np.abs(received - expected.gain * sent)).mean(axis=(1, 2))
    check_mean(rest, float(expected.distortion))


@pytest.mark.parametrize("early", [2, 9])
def test_an_early_slot_costs_the_same_unless_the_window_is_advanced(early, rng):
    sent, received = through(rng, transmit=(TimingOffset(-early),))
    ramp = np.exp(2j * np.pi * FULL.carriers * early / 64)
    expected = theory.late_slot(FULL, early)
    rest = np.abs(received / ramp - expected.gain * sent)[:, :-1]
    check_mean(np.square(rest).mean(axis=(1, 2)), float(expected.distortion))
    sent, received = through(rng, transmit=(TimingOffset(-early),), count=2, window_advance=9)
    np.testing.assert_allclose(received, sent * ramp, atol=2e-5)


@pytest.mark.parametrize("symbol", [0, 3, 9])
@pytest.mark.parametrize("eps", [0.01, -0.1, 0.4])
def test_oracle_8_carrier_offset(eps, symbol, rng):
    """|S0| = sin(pi eps) / (N sin(pi eps / N)), its phase on symbol l, and 1 - S0^2 of rest."""
    sent, received = through(rng, transmit=(CarrierOffset(eps),))
    size = np.sin(np.pi * eps) / (64 * np.sin(np.pi * eps / 64))
    phase = np.pi * eps * 63 / 64 + 2 * np.pi * eps * (16 + symbol * 80) / 64
    expected = theory.carrier_offset(FULL, eps, symbol)
    assert expected.gain == pytest.approx(size * np.exp(1j * phase), rel=1e-9)
    sent, received = sent[:, symbol], received[:, symbol]
    power = np.square(np.abs(sent)).mean(axis=1)
    left = (received * sent.conj() / expected.gain).mean(axis=1) - power
    check_mean(left.real, 0.0)
    check_mean(left.imag, 0.0)
    rest = np.square(np.abs(received - expected.gain * sent)).mean(axis=1)
    check_mean(rest, float(1 - size**2))


def test_oracle_8_the_common_phase_dominates_over_a_block(rng):
    """At eps = 0.01 and ten symbols of the default numerology: an NMSE of 0.165."""
    grid = OfdmGrid(guards=(0, 0), dc_null=False)
    sent, received = through(rng, transmit=(CarrierOffset(0.01),), grid=grid, count=40)
    nmse = np.square(np.abs(received - sent)).sum(axis=(1, 2))
    nmse /= np.square(np.abs(sent)).sum(axis=(1, 2))
    expected = np.mean([theory.carrier_offset(grid, 0.01, symbol).nmse for symbol in range(10)])
    assert expected == pytest.approx(0.165, abs=5e-4)
    assert nmse.mean() == pytest.approx(expected, rel=0.02)
    interference = theory.carrier_offset(grid, 0.01, 0).distortion
    assert interference == pytest.approx(3.3e-4, rel=0.01)


def test_an_offset_in_ppm_is_one_of_the_carrier_frequency(rng):
    """0.1 ppm of 3.5 GHz is 350 Hz, of 30 kHz."""
    spacing = CarrierOffset(350 / 30e3)
    ppm = CarrierOffset(0.1, unit="ppm", carrier_frequency=3.5e9)
    seed = int(rng.integers(2**32))
    _, one = through(np.random.default_rng(seed), transmit=(spacing,), count=1)
    _, other = through(np.random.default_rng(seed), transmit=(ppm,), count=1)
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("backoff_db", [-3.0, 0.0, 3.0, 6.0])
def test_oracle_9_soft_limiter(backoff_db, rng):
    """Bussgang's gain and the distortion of Gaussian samples."""
    c = 10 ** (backoff_db / 20)
    gain = 1 - np.exp(-(c**2)) + np.sqrt(np.pi) * c / 2 * erfc(c)
    distortion = 1 - np.exp(-(c**2)) - gain**2
    expected = theory.soft_limiter(backoff_db)
    assert (expected.gain, expected.distortion) == pytest.approx((gain, distortion), rel=1e-9)
    sent, received = through(rng, transmit=(SoftLimiter(backoff_db),), count=600)
    power = np.square(np.abs(sent)).mean(axis=(1, 2))
    left = (received * sent.conj()).real.mean(axis=(1, 2)) - gain * power
    check_mean(left, 0.0)
    rest = np.square(np.abs(received - gain * sent)).mean(axis=(1, 2))
    check_mean(rest, distortion)


def test_oracle_10_papr_at_the_nyquist_rate(rng):
    """P(PAPR > z) = 1 - (1 - e^-z)^N, from the peak and mean power that the link reports.

    QPSK has the same energy in every symbol; its samples are all but independent and Gaussian.
    """
    grid = OfdmGrid(fft_size=256, cp_length=0, guards=(0, 0), dc_null=False)
    signals = rng.choice([-1.0, 1.0], size=(6000, 512)).astype(np.float32)
    report = WaveformLink(grid=grid, fading=NoFading()).open(6000, 512, rng).send(signals, 1e-3)
    ratio = report.diagnostics["peak_power"] / report.diagnostics["average_power"]
    for level_db in (6.5, 7.5, 8.5, 9.5):
        level = 10 ** (level_db / 10)
        expected = 1 - (1 - np.exp(-level)) ** 256
        assert theory.papr_ccdf(level, 256) == pytest.approx(expected, rel=1e-9)
        found = np.mean(ratio > level)
        error = 5 * np.sqrt(expected * (1 - expected) / 6000)
        assert abs(found - expected) < error + 0.03 * expected


def test_oversampling_finds_higher_peaks(rng):
    grid = OfdmGrid(fft_size=256, cp_length=0, guards=(0, 0), dc_null=False)
    elements = rng.choice([1, -1, 1j, -1j], size=(3000, 256)).astype(np.complex64)
    nyquist, fine = papr(grid, elements, 1), papr(grid, elements, 4)
    assert (fine >= nyquist * (1 - 1e-5)).all()
    at = 10**0.85
    # the rule of 2.8 N is a rough one
    assert np.mean(fine > at) == pytest.approx(theory.papr_ccdf(at, 2.8 * 256), rel=0.2)


@pytest.mark.parametrize("bits", [4, 6, 10])
def test_oracle_11_quantiser(bits, rng):
    """step^2 / 12 in each of I and Q, far from full scale."""
    sent, received = through(rng, receive=(Adc(bits, backoff_db=15.0),), count=300)
    error = np.square(np.abs(received - sent)).mean(axis=(1, 2))
    full_scale = 10 ** (15 / 20) * np.sqrt(0.5)
    step = 2 * full_scale / 2**bits
    assert theory.quantiser(bits, 15.0) == pytest.approx(2 * step**2 / 12, rel=1e-9)
    # gain control follows the burst, so its step does
    power = np.square(np.abs(sent)).mean(axis=(1, 2))
    check_mean(error / power, 2 * step**2 / 12)


def test_too_little_backoff_overloads_the_quantiser(rng):
    sent, received = through(rng, receive=(Adc(10, backoff_db=3.0),), count=100)
    error = np.square(np.abs(received - sent)).mean()
    assert error > 20 * theory.quantiser(10, 3.0)


@pytest.mark.parametrize(("gain_db", "degrees"), [(1.0, 0.0), (0.0, 5.0), (-0.5, 3.0)])
def test_iq_imbalance_puts_an_image_on_the_mirror_carrier(gain_db, degrees, rng):
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))
    impairment = IqImbalance(gain_db, degrees)
    sent, received = through(rng, transmit=(impairment,), count=2, grid=grid)
    turned = 10 ** (gain_db / 20) * np.exp(1j * np.deg2rad(degrees))
    mirrored = sent[..., ::-1].conj()  # carriers -k, on a grid that is symmetric
    expected = (1 + turned) / 2 * sent + (1 - turned) / 2 * mirrored
    np.testing.assert_allclose(received, expected, atol=2e-5)
    at_server = through(np.random.default_rng(1), receive=(impairment,), count=2, grid=grid)
    mirrored = at_server[0][..., ::-1].conj()
    expected = (1 + turned) / 2 * at_server[0] + (1 - turned) / 2 * mirrored
    np.testing.assert_allclose(at_server[1], expected, atol=2e-5)


@pytest.mark.parametrize("ppm", [20.0, -100.0])
def test_a_fast_clock_turns_carriers_in_proportion_to_their_frequency(ppm, rng):
    """Carrier k turns as if off by k ppm 1e-6 spacings; outer ones the most."""
    grid, early = OfdmGrid(), 16  # so that symbols may slide without interfering
    impairment = ClockOffset(ppm)
    sent, received = through(rng, transmit=(impairment,), count=20, grid=grid, window_advance=early)
    offsets = grid.carriers * ppm * 1e-6
    for symbol in (0, 5, 9):
        effect = [theory.carrier_offset(grid, eps, symbol) for eps in offsets]
        gain = np.array([each.gain for each in effect])
        gain *= np.exp(-2j * np.pi * offsets * early / 512)
        one, other = sent[:, symbol], received[:, symbol]
        found = (other * one.conj()).sum(axis=0) / np.square(np.abs(one)).sum(axis=0)
        rest = np.mean([each.distortion for each in effect])
        assert np.abs(found - gain).max() < 8 * np.sqrt(rest / 20) + 2e-3
        error = np.square(np.abs(other - gain * one)).mean()
        assert error == pytest.approx(rest, rel=0.3, abs=1e-6)


@pytest.mark.parametrize("offset", [0.5, 3.25, 7.8])
def test_parts_of_a_sample_are_a_phase_ramp_too(offset, rng):
    """On a grid with guards: the filter between samples holds for 0.85 of the band."""
    sent, received = through(
        rng, transmit=(TimingOffset(offset),), count=2, grid=OfdmGrid(), window_advance=16
    )
    ramp = np.exp(-2j * np.pi * OfdmGrid().carriers * offset / 512)
    error = np.sqrt(np.square(np.abs(received - sent * ramp))[:, 1:].mean())
    assert error < 2e-4


@pytest.mark.parametrize("speed", [10.0, 20.0])
@pytest.mark.parametrize("per_slot", [1, 10])
def test_movement_within_a_slot(speed, per_slot, rng):
    """h(t) = rho h + sqrt(1 - rho^2) w between the middle of the slot's data and t.

    Mean over the FFT of (1 - rho)^2 p + (1 - rho^2) E1(g), for those who send.
    """
    truncation = 0.2
    grid = replace(FULL, subcarrier_spacing=2e3, symbols_per_slot=per_slot)
    fading = Rayleigh(speed=speed)
    sent, received = through(rng, fading=fading, truncation=truncation, grid=grid, count=1000)
    active = np.exp(-truncation)
    error = np.square(np.abs(received - sent)).mean(axis=2)
    for symbol in range(SYMBOLS):
        lag = symbol % per_slot * 80 + 16 + np.arange(64) - per_slot * 80 / 2
        rho = j0(2 * np.pi * speed * 3.5e9 / SPEED_OF_LIGHT * lag / grid.sampling_rate)
        moved = np.mean((1 - rho) ** 2 * active + (1 - rho**2) * exp1(truncation))
        check_mean(error[:, symbol], float(moved + 1 - active))


def test_two_impairments_together_are_stock_pieces_in_a_row(rng):
    """A limiter and a carrier offset at each of two clients, multipath, and an ADC."""
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.channel import ApplyTimeChannel, cir_to_time_channel
    from sionna.phy.ofdm import OFDMDemodulator, OFDMModulator

    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)
    gains = np.array([[1.0, 0.4j], [0.8j, -0.3]], np.complex64)
    delays = np.array([0.0, 3.0]) / grid.sampling_rate
    offsets, backoff, bits = (0.02, -0.05), 2.0, 7
    link = WaveformLink(
        grid=grid,
        fading=FixedFading(gains, delays),
        truncation=0.0,
        snr_db=np.inf,
        power=6.0 * 64,
        transmit=(SoftLimiter(backoff), CarrierOffset(offsets)),
        receive=(Adc(bits, backoff_db=10.0),),
        interleaver_seed=None,
    )
    length = 2 * 64 * 6
    signals = rng.normal(scale=np.sqrt(0.5), size=(2, length)).astype(np.float32)
    received = link.open(2, length, rng).send(signals, 1.0, enforce=False).total

    carriers = np.arange(-32, 32)
    response = gains @ np.exp(-2j * np.pi / 64 * np.outer([0, 3], carriers))
    sent = signals.view(np.complex64).reshape(2, 6, 64) / response[:, None]
    samples = np.asarray(OFDMModulator(16)(tf.constant(sent.astype(np.complex64))))
    level = 10 ** (backoff / 20)  # of the mean sample power that is allowed, 1
    limited = np.where(np.abs(samples) > level, level * samples / np.abs(samples), samples)
    turned = limited * np.exp(2j * np.pi / 64 * np.outer(offsets, np.arange(samples.shape[1])))
    a = tf.constant(gains[None, None, None, :, None, :, None])
    tau = tf.constant(np.tile(delays, (1, 1, 2, 1)), tf.float32)
    taps = cir_to_time_channel(tf.constant(grid.sampling_rate, tf.float32), a, tau, 0, 3)
    x = tf.constant(turned[None, :, None].astype(np.complex64))
    arrived = np.asarray(ApplyTimeChannel(480, 4)(x, taps))[0, 0, 0]
    rms = np.sqrt(np.square(np.abs(arrived[:480].reshape(6, 80)[:, 16:])).mean())
    full_scale = rms / np.sqrt(2) * 10 ** (10 / 20)
    step = 2 * full_scale / 2**bits

    def quantised(part):
        code = np.clip(np.floor(part / step), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return (code + 0.5) * step

    digital = (quantised(arrived.real) + 1j * quantised(arrived.imag)).astype(np.complex64)
    elements = np.asarray(OFDMDemodulator(64, 0, 16)(tf.constant(digital[:480])))
    theirs = np.ascontiguousarray(elements).view(np.float32).reshape(-1)
    # single samples may fall to the other side of a step
    assert np.linalg.norm(received - theirs) < 0.01 * np.linalg.norm(theirs)
    truth = signals.sum(axis=0)
    nmse = np.square(received - truth).sum() / np.square(truth).sum()
    by_hand = np.square(theirs - truth).sum() / np.square(truth).sum()
    assert nmse == pytest.approx(by_hand, rel=0.01)
    assert nmse > 0.01
