"""Amplifiers on single samples, and clipping on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from phy.impairments import ClipAndFilter, Rapp, SoftLimiter
from phy.impairments.amplifier import saturation
from phy.impairments.theory import soft_limiter
from phy.randomness import complex_normal
from phy.waveform import modulate
from tests.phy.impairments.context import GRID, check_message, slot_of
from tests.tolerance import check_mean


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (
            lambda: SoftLimiter(backoff_db=np.nan),
            ["SoftLimiter.backoff_db must be a finite number >= -60 and <= 100, got nan"],
        ),
        (lambda: Rapp(smoothness=0.0), ["Rapp.smoothness must be", ">= 0.1", "got 0.0"]),
        (lambda: Rapp(backoff_db="8"), ["Rapp.backoff_db must be a finite number", "got '8'"]),
        (
            lambda: ClipAndFilter(passes=0),
            ["ClipAndFilter.passes must be a whole number from 1 to 100, got 0"],
        ),
        (
            lambda: ClipAndFilter(oversampling=1000),
            ["ClipAndFilter.oversampling must be a whole number from 1 to 100, got 1000"],
        ),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    check_message(make, names)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(
        TypeError, match="Rapp has no option 'backoff_dB'; did you mean 'backoff_db'"
    ):
        Rapp(backoff_dB=3)
    with pytest.raises(TypeError, match="ClipAndFilter has no option 'pases'; .*'passes'"):
        ClipAndFilter(pases=3)


def test_clip_and_filter_is_refused_at_the_server():
    ClipAndFilter().check(GRID, "transmit", 3)
    check_message(
        lambda: ClipAndFilter().check(GRID, "receive"),
        ["ClipAndFilter must be first in transmit", "got it in receive"],
    )
    assert ClipAndFilter().digital
    assert not Rapp().digital


def test_the_saturation_amplitude_in_literal_numbers():
    """6 dB over a budgeted rms of 2: 2 x 1.99526."""
    np.testing.assert_allclose(
        saturation(np.array([2.0, 1.0]), 6.0), [[3.990525], [1.995262]], rtol=1e-6
    )
    assert saturation(np.zeros(1), 6.0)[0, 0] > 0


def test_a_limiter_keeps_what_is_below_and_the_phase_of_what_is_above(rng):
    samples = np.array([[0.5, -2.0, 3j, 1 + 1j]], np.complex64)
    slot = slot_of(rng, devices=1)
    out = SoftLimiter(backoff_db=0.0).apply(samples, slot)
    np.testing.assert_allclose(out, [[0.5, -1, 1j, (1 + 1j) / np.sqrt(2)]], rtol=1e-6)
    np.testing.assert_allclose(slot.clip_rates, [[0.75]])
    np.testing.assert_allclose(slot.largest_clip_rate, [0.75])


def test_each_device_has_a_level_of_its_own(rng):
    slot = slot_of(rng, devices=2, rms=1.0)
    slot.rms[:] = [1.0, 4.0]
    out = SoftLimiter(backoff_db=0.0).apply(np.full((2, 3), 9, np.complex64), slot)
    np.testing.assert_allclose(out, np.array([[1.0], [4.0]]) * np.ones(3), rtol=1e-6)


def test_a_limiter_on_gaussian_samples_has_bussgangs_gain_and_distortion(rng):
    samples = complex_normal(rng, (1, 200_000))
    out = SoftLimiter(backoff_db=0.0).apply(samples, slot_of(rng, devices=1))
    # c = 1: gain 1 - 1/e + sqrt(pi)/2 erfc(1) = 0.771523; output power 1 - 1/e
    assert float(soft_limiter(0.0).gain) == pytest.approx(0.771523, abs=1e-6)
    check_mean((out * samples.conj()).real, 0.771523)
    check_mean(np.square(np.abs(out)), 0.632121)


def test_rapp_is_its_formula_and_in_the_limit_a_limiter(rng):
    amplitude = np.array([0.0, 0.1, 1.0, 2.0, 100.0, 1e10])
    samples = (amplitude * np.exp(0.7j))[None].astype(np.complex64)
    level = 10 ** (3 / 20)
    for smoothness in (0.5, 2.0, 3.0):
        out = Rapp(3.0, smoothness).apply(samples, slot_of(rng, devices=1))
        power = 2 * smoothness
        expected = amplitude / (1 + (amplitude / level) ** power) ** (1 / power)
        np.testing.assert_allclose(np.abs(out[0]), expected, rtol=1e-5)
        np.testing.assert_allclose(np.angle(out[0, 1:]), 0.7, rtol=1e-5)
    sharp = Rapp(3.0, 100.0).apply(samples, slot_of(rng, devices=1))
    np.testing.assert_allclose(np.abs(sharp[0]), np.minimum(amplitude, level), rtol=1e-2)


def test_rapp_counts_samples_beyond_saturation(rng):
    slot = slot_of(rng, devices=1)
    Rapp(backoff_db=0.0).apply(np.array([[0.5, 0.9, 1.1, 7.0]], np.complex64), slot)
    np.testing.assert_allclose(slot.largest_clip_rate, [0.5])


def test_clip_and_filter_leaves_other_carriers_empty_and_lowers_peaks(rng):
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    samples = modulate(GRID, elements)
    rms = np.sqrt(GRID.num_carriers / GRID.fft_size)
    before = np.abs(samples).max() / rms
    for passes in (1, 4):
        out = ClipAndFilter(4.0, passes).apply(samples, slot_of(rng, rms=rms))
        assert out.shape == samples.shape
        bodies = out.reshape(2, 3, 80)[..., 16:]
        spectrum = np.fft.fft(bodies, norm="ortho")
        unused = np.setdiff1d(np.arange(64), GRID.carriers % 64)
        assert np.abs(spectrum[..., unused]).max() < 1e-5
        np.testing.assert_allclose(out.reshape(2, 3, 80)[..., :16], bodies[..., -16:], atol=1e-6)
        after = np.abs(out).max() / rms
        assert after < before
        before = after
    same = ClipAndFilter(60.0).apply(samples, slot_of(rng, rms=rms))
    np.testing.assert_allclose(same, samples, atol=1e-5)


def test_clip_and_filter_shapes_the_symbols_it_applies(rng):
    """Elements by ``shape``, samples by ``apply``; clipping by hand in float64."""
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    clip, slot = ClipAndFilter(backoff_db=2.0, oversampling=4), slot_of(rng)
    shaped = clip.shape(GRID, elements, slot.rms)
    out = clip.apply(modulate(GRID, elements), slot)
    np.testing.assert_allclose(out, modulate(GRID, shaped), atol=1e-5)
    times = np.arange(4 * 64) / 4
    waves = np.exp(2j * np.pi * np.outer(times, GRID.used_carriers) / 64) / 8
    fine = elements.astype(complex) @ waves.T  # a unitary symbol of 64, seen at 256 instants
    level = 10 ** (2 / 20)
    limited = fine * np.minimum(1, level / np.abs(fine))
    np.testing.assert_allclose(shaped, limited @ waves.conj() / 4, atol=1e-5)
    rate = np.mean(np.abs(fine) > level, axis=(1, 2))
    np.testing.assert_allclose(slot.largest_clip_rate, rate, atol=2 / 768)
    assert rate.min() > 0


def test_other_amplifiers_shape_nothing_in_digital_baseband(rng):
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    for impairment in (SoftLimiter(0.0), Rapp(0.0)):
        assert impairment.shape(GRID, elements, np.ones(2)) is elements
