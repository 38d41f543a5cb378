"""Faults alone: what they refuse, and what they do to single samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from links import WaveformLink
from phy import NoFading, OfdmGrid, Tdl
from phy.impairments import (
    Adc,
    Burst,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    Devices,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from phy.impairments.converter import best_backoff_db
from phy.randomness import complex_normal, device_stream
from phy.resampling import delayed
from phy.waveform import demodulate, modulate
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))


def burst_of(rng, devices=2, symbols=3, rms=1.0):
    return Burst(GRID, symbols, np.full(devices, rms), Devices(7, range(devices)), rng)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: PhaseNoise(linewidth=-1.0), ["linewidth = -1.0", ">= 0"]),
        (lambda: PhaseNoise(linewidth=np.nan), ["linewidth = nan"]),
        (lambda: Adc(bits=0), ["bits = 0", ">= 1"]),
        (lambda: Adc(bits=25), ["bits = 25", "1 to 24"]),
        (lambda: Adc(bits=2.5), ["bits = 2.5"]),
        (lambda: Adc(backoff_db=np.inf), ["backoff_db = inf"]),
        (lambda: CarrierOffset(0.6), ["offset=0.6", "0.6 subcarrier spacings", "neighbour"]),
        (lambda: CarrierOffset([0.1, -0.51]), ["0.51"]),
        (lambda: CarrierOffset(std=0.2), ["std=0.2", "four deviations", "0.8", "at most 0.5"]),
        (lambda: CarrierOffset(std=-0.1), ["std = -0.1"]),
        (lambda: CarrierOffset(np.nan), ["offset = nan"]),
        (lambda: CarrierOffset(0.1, unit="Hz"), ["unit = 'Hz'", "'spacing', 'ppm'"]),
        (lambda: CarrierOffset(0.1, sync=True), ["sync = True", "CarrierSync()"]),
        (lambda: CarrierOffset(3.6, sync=CarrierSync()), ["at most 3.5"]),
        (lambda: TimingOffset(std=-1.0), ["std = -1.0"]),
        (lambda: TimingOffset(np.inf), ["offset = inf"]),
        (lambda: TimingOffset(advance=3), ["advance = 3", "TimingAdvance()"]),
        (lambda: TimingAdvance(resolution=0.0), ["resolution = 0.0", "> 0"]),
        (lambda: CarrierSync(snr_db=np.nan), ["snr_db = nan"]),
        (lambda: ClockOffset(ppm=2000.0), ["ppm = 2000.0", "<= 1000"]),
        (lambda: SoftLimiter(backoff_db=np.nan), ["SoftLimiter.backoff_db = nan"]),
        (lambda: Rapp(smoothness=0.0), ["smoothness = 0.0"]),
        (lambda: Rapp(backoff_db="8"), ["Rapp.backoff_db = '8'"]),
        (lambda: ClipAndFilter(passes=0), ["passes = 0"]),
        (lambda: ClipAndFilter(oversampling=1000), ["oversampling=1000", "at most 100"]),
        (lambda: PhaseNoise(linewidth=1e12), ["linewidth = 1", "<= 1e+09"]),
        (lambda: IqImbalance(gain_db=40.0), ["gain_db = 40.0"]),
        (lambda: IqImbalance(phase_deg=90.0), ["phase_deg = 90.0"]),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    with pytest.raises(ValueError) as refused:
        make()
    for name in names:
        assert name in str(refused.value)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"transmit": Rapp()}, ["transmit = Rapp", "list of faults"]),
        ({"transmit": ["rapp"]}, ["transmit[0] = 'rapp'", "Rapp()"]),
        ({"transmit": [Rapp]}, ["transmit[0]"]),
        ({"transmit": [CarrierOffset(20.0, unit="ppm")]}, ["2.33 subcarrier spacings", "sync"]),
        ({"transmit": [TimingOffset(600)]}, ["600 samples", "at most 512", "neighbour"]),
        (
            {"transmit": [TimingOffset(std=70.0, advance=TimingAdvance())]},
            ["280 samples", "at most 256", "the range of advance"],
        ),
        ({"transmit": [CarrierOffset(0.1), CarrierOffset(0.2)]}, ["CarrierOffset twice"]),
        ({"fading": Tdl("A", speed=2000.0)}, ["Doppler shift of 2.335e+04 Hz", "at most 4244 Hz"]),
        ({"transmit": [Rapp(), ClipAndFilter()]}, ["ClipAndFilter", "first in transmit"]),
        ({"receive": [ClipAndFilter()]}, ["ClipAndFilter"]),
        ({"receive": [CarrierOffset([0.1, 0.2])]}, ["CarrierOffset.offset", "the server's"]),
        ({"receive": [CarrierOffset(0.1, sync=CarrierSync())]}, ["sync", "transmit"]),
        ({"receive": [TimingOffset(1, advance=TimingAdvance())]}, ["advance", "transmit"]),
        ({"window_advance": 65}, ["window_advance = 65", "cp_length = 64"]),
        ({"window_advance": -1}, ["window_advance = -1"]),
        ({"csi_through_faults": 1}, ["csi_through_faults = 1"]),
        (
            {
                "grid": OfdmGrid(fft_size=63, guards=(0, 0), dc_null=False, cp_length=8),
                "transmit": [CarrierOffset(sync=CarrierSync())],
            },
            ["fft_size = 63", "divisible by 8"],
        ),
    ],
)
def test_links_refuse_what_does_not_fit_them(options, names):
    with pytest.raises(ValueError) as refused:
        WaveformLink(**options)
    for name in names:
        assert name in str(refused.value)


def test_a_list_of_offsets_must_reach_all_clients(rng):
    link = WaveformLink(grid=GRID, fading=NoFading(), transmit=(CarrierOffset([0.1, 0.2]),))
    with pytest.raises(ValueError, match="has 2 values, one a client, but client 2 takes part"):
        link.open(3, 10, rng)


def test_a_limiter_keeps_what_is_below_and_the_phase_of_what_is_above(rng):
    samples = np.array([[0.5, -2.0, 3j, 1 + 1j]], np.complex64)
    burst = burst_of(rng, devices=1)
    out = SoftLimiter(backoff_db=0.0).apply(samples, burst)
    np.testing.assert_allclose(out, [[0.5, -1, 1j, (1 + 1j) / np.sqrt(2)]], rtol=1e-6)
    np.testing.assert_allclose(burst.notes["clip_rate"], [0.75])


def test_rapp_is_its_formula_and_in_the_limit_a_limiter(rng):
    amplitude = np.array([0.0, 0.1, 1.0, 2.0, 100.0, 1e10])
    samples = (amplitude * np.exp(0.7j))[None].astype(np.complex64)
    level = 10 ** (3 / 20)
    for smoothness in (0.5, 2.0, 3.0):
        out = Rapp(3.0, smoothness).apply(samples, burst_of(rng, devices=1))
        power = 2 * smoothness
        expected = amplitude / (1 + (amplitude / level) ** power) ** (1 / power)
        np.testing.assert_allclose(np.abs(out[0]), expected, rtol=1e-5)
        np.testing.assert_allclose(np.angle(out[0, 1:]), 0.7, rtol=1e-5)
    sharp = Rapp(3.0, 100.0).apply(samples, burst_of(rng, devices=1))
    np.testing.assert_allclose(np.abs(sharp[0]), np.minimum(amplitude, level), rtol=1e-2)


def test_clip_and_filter_leaves_other_carriers_empty_and_lowers_peaks(rng):
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    samples = modulate(GRID, elements)
    rms = np.sqrt(GRID.num_carriers / GRID.fft_size)
    before = np.abs(samples).max() / rms
    for passes in (1, 4):
        out = ClipAndFilter(4.0, passes).apply(samples, burst_of(rng, rms=rms))
        assert out.shape == samples.shape
        bodies = out.reshape(2, 3, 80)[..., 16:]
        spectrum = np.fft.fft(bodies, norm="ortho")
        unused = np.setdiff1d(np.arange(64), GRID.carriers % 64)
        assert np.abs(spectrum[..., unused]).max() < 1e-5
        np.testing.assert_allclose(out.reshape(2, 3, 80)[..., :16], bodies[..., -16:], atol=1e-6)
        after = np.abs(out).max() / rms
        assert after < before
        before = after
    same = ClipAndFilter(60.0).apply(samples, burst_of(rng, rms=rms))
    np.testing.assert_allclose(same, samples, atol=1e-5)


def test_an_adc_has_two_to_the_bits_levels_around_zero(rng):
    ramp = np.linspace(-2, 2, 4001)
    samples = (ramp + 1j * ramp[::-1])[None].astype(np.complex64)
    out = Adc(bits=3, backoff_db=0.0).apply(samples, burst_of(rng, devices=1, rms=np.sqrt(2)))
    levels = np.unique(np.round(out.real, 6))
    np.testing.assert_allclose(levels, (np.arange(8) - 3.5) / 4)  # full scale 1, step 1/4
    inside = np.abs(ramp) < 1
    assert np.abs(out.real[0] - ramp)[inside].max() <= 0.125 + 1e-6


def test_by_itself_an_adc_loses_the_least(rng):
    """J. Max's table of optimal uniform quantisers: steps of 1.596, 0.9957, 0.5860, 0.3352."""
    gaussian = complex_normal(rng, (1, 200_000), np.sqrt(2))
    for bits, step, error in ((1, 1.596, 0.3634), (2, 0.9957, 0.1188), (4, 0.3352, 0.01154)):
        best = best_backoff_db(bits)
        assert 2 * 10 ** (best / 20) / 2**bits == pytest.approx(step, rel=2e-3)
        burst = burst_of(rng, devices=1, rms=np.sqrt(2))
        out = Adc(bits).apply(gaussian, burst)
        assert np.square(np.abs(out - gaussian)).mean() / 2 == pytest.approx(error, rel=0.02)
    assert best_backoff_db(8) < best_backoff_db(12) < best_backoff_db(24) < 18.1


def test_a_device_draws_from_a_stream_of_its_own(rng):
    """Apart from other faults, other devices, and the fading of the same device."""
    devices = Devices(5, range(2000))
    offsets, gains = devices.normals("offset"), devices.normals("gain")
    check_mean(offsets, 0.0)
    check_mean(offsets * gains, 0.0)
    check_mean(np.square(offsets), 1 - 8 * np.exp(-8) / np.sqrt(2 * np.pi))
    assert np.abs(offsets).max() <= 4
    np.testing.assert_array_equal(Devices(5, [3]).normals("offset"), offsets[3:4])
    assert Devices(6, [3]).normals("offset") != offsets[3]
    fading = [device_stream(5, client).random() for client in range(2000)]
    assert abs(np.corrcoef(fading, offsets)[0, 1]) < 5 / np.sqrt(2000)


def test_phase_noise_begins_at_zero_and_spreads_as_a_wiener_process(rng):
    ones = np.ones((4000, 200), np.complex64)
    burst = Burst(GRID, 2, np.ones(4000), Devices(1, range(4000)), rng)
    linewidth = 500.0
    phase = np.angle(PhaseNoise(linewidth).apply(ones, burst))
    np.testing.assert_array_equal(phase[:, 0], 0)
    for sample in (1, 50, 199):
        variance = 2 * np.pi * linewidth * sample / GRID.sampling_rate
        check_mean(np.square(phase[:, sample]), variance)


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


def test_modulation_is_undone_from_anywhere_in_the_prefix(rng):
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    samples = modulate(GRID, elements)
    for early in (0, 5, 16):
        waited = np.concatenate([np.zeros((2, early), np.complex64), samples], axis=1)
        np.testing.assert_allclose(demodulate(GRID, waited, -early, 3), elements, atol=1e-5)


@dataclass(frozen=True)
class Mine:
    """A fault as a user may write one: NumPy makes complex128 of it."""

    cut: int = 0

    def apply(self, samples, burst):
        return (samples * np.exp(0.1j))[:, self.cut :]


def test_a_fault_of_ones_own(rng):
    signals = rng.standard_normal((2, 500)).astype(np.float32)
    link = WaveformLink(grid=GRID, fading=NoFading(), snr_db=np.inf, interleaver_seed=None)
    alone = replace(link, receive=(Mine(),)).open(2, 500, rng).send(signals, 1e-3).total
    expected = (signals.sum(axis=0).view(np.complex64) * np.exp(0.1j)).astype(np.complex64)
    np.testing.assert_allclose(alone, expected.view(np.float32), atol=1e-4)
    before = replace(link, receive=(Mine(), Adc(20))).open(2, 500, rng).send(signals, 1e-3).total
    np.testing.assert_allclose(before, alone, atol=1e-3)
    with pytest.raises(ValueError, match=r"Mine.apply gives samples of shape \(2, .*give as many"):
        replace(link, transmit=(Mine(cut=1),)).open(2, 500, rng).send(signals, 1e-3)


@pytest.mark.parametrize("fault", [SoftLimiter(), Rapp(), Adc(), IqImbalance(1.0)], ids=str)
def test_a_server_that_hears_nothing(fault, rng):
    link = WaveformLink(grid=GRID, truncation=1e6, snr_db=np.inf, receive=(fault,))
    received = link.open(2, 50, rng).send(np.ones((2, 50)), 1.0)
    np.testing.assert_array_equal(received.total, 0)


def test_identical_offsets_at_both_ends_are_told_apart_by_their_sign(rng):
    """At the server an offset is that which signals seem to have, from the slot's beginning on."""
    signals = rng.standard_normal((2, 500)).astype(np.float32)
    for one, other in (
        (CarrierOffset(0.03), CarrierOffset(-0.03)),
        (ClockOffset(100.0), ClockOffset(-100.0)),
    ):
        link = WaveformLink(
            grid=GRID,
            fading=NoFading(),
            snr_db=np.inf,
            window_advance=8,
            transmit=(one,),
            receive=(other,),
        )
        assert link.open(2, 500, rng).send(signals, 1e-3).diagnostics["nmse"] < 1e-5


def _phase_per_turn(out, turns):
    return np.angle(out) / (2 * np.pi * turns)


@pytest.mark.parametrize(
    ("fault", "found", "mean", "deviation"),
    [
        # what each fault does to a tone of a quarter of a turn a sample, at sample 40
        (CarrierOffset(0.2, 0.05), lambda y: _phase_per_turn(y, 40 / 64), 0.2, 0.05),
        (TimingOffset(-0.3, 0.1), lambda y: _phase_per_turn(y, -0.25), -0.3, 0.1),
        (ClockOffset(300.0, 100.0), lambda y: 1e6 * _phase_per_turn(y, 0.25 * 40), 300.0, 100.0),
        (
            IqImbalance(gain_db=0.5, gain_std_db=0.2),
            lambda y: 20 * np.log10(np.abs(2 * y - 1)),
            0.5,
            0.2,
        ),
        (
            IqImbalance(phase_deg=3.0, phase_std_deg=1.0),
            lambda y: np.rad2deg(np.angle(2 * y - 1)),
            3.0,
            1.0,
        ),
    ],
    ids=["carrier", "timing", "clock", "IQ gain", "IQ phase"],
)
def test_devices_spread_as_asked(fault, found, mean, deviation, rng):
    """The mean and the standard deviation of what was drawn, from what it does to a tone."""
    devices, n = 3000, np.arange(80)
    tone = np.exp(0.5j * np.pi * n).astype(np.complex64)
    burst = Burst(GRID, 1, np.ones(devices), Devices(int(rng.integers(2**62)), range(devices)), rng)
    out = fault.apply(np.tile(tone, (devices, 1)), burst)
    if isinstance(fault, IqImbalance):
        # the part at the tone's own frequency is (1 + g e^{j phi}) / 2
        values = found((out * tone.conj())[:, :64].mean(axis=1))
    else:
        values = found(out[:, 40] * tone[40].conj())
    check_mean(values, mean)
    check_mean(np.square(values - mean), deviation**2 * (1 - 8 * np.exp(-8) / np.sqrt(2 * np.pi)))
