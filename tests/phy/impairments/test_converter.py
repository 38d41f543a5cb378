"""Quantisers and mixers on single samples."""

from __future__ import annotations

import numpy as np
import pytest

from phy.impairments import Adc, IqImbalance
from phy.impairments.converter import best_backoff_db
from phy.impairments.theory import quantiser
from phy.randomness import complex_normal
from tests.phy.impairments.context import GRID, check_message, slot_of
from tests.tolerance import check_mean


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Adc(bits=0), ["Adc.bits must be a whole number from 1 to 24, got 0"]),
        (lambda: Adc(bits=25), ["Adc.bits must be a whole number from 1 to 24, got 25"]),
        (lambda: Adc(bits=2.5), ["Adc.bits must be a whole number", "got 2.5"]),
        (lambda: Adc(backoff_db=np.inf), ["Adc.backoff_db must be a finite number", "got inf"]),
        (lambda: IqImbalance(gain_db=40.0), ["IqImbalance.gain_db must be", "<= 20, got 40.0"]),
        (lambda: IqImbalance(phase_deg=90.0), ["IqImbalance.phase_deg must", "<= 45, got 90.0"]),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    check_message(make, names)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="Adc has no option 'Bits'; did you mean 'bits'"):
        Adc(Bits=3)


def test_lists_are_for_clients():
    imbalance = IqImbalance(gain_db=[1.0, 2.0], phase_deg=3.0)
    imbalance.check(GRID, "transmit", 2)
    check_message(
        lambda: imbalance.check(GRID, "transmit", 3),
        ["IqImbalance.gain_db must be a scalar or one value per client", "got 2 values"],
    )
    check_message(
        lambda: IqImbalance(phase_deg=[1.0, 2.0]).check(GRID, "receive"),
        ["receive: IqImbalance.phase_deg must be a scalar", "got (1.0, 2.0)"],
    )


def test_an_adc_has_two_to_the_bits_levels_around_zero(rng):
    ramp = np.linspace(-2, 2, 4001)
    samples = (ramp + 1j * ramp[::-1])[None].astype(np.complex64)
    slot = slot_of(rng, devices=1, rms=np.sqrt(2))
    out = Adc(bits=3, backoff_db=0.0).apply(samples, slot)
    levels = np.unique(np.round(out.real, 6))
    np.testing.assert_allclose(levels, (np.arange(8) - 3.5) / 4)  # full scale 1, step 1/4
    inside = np.abs(ramp) < 1
    assert np.abs(out.real[0] - ramp)[inside].max() <= 0.125 + 1e-6
    # half of the ramp lies beyond full scale
    np.testing.assert_allclose(slot.largest_clip_rate, [0.5], atol=1e-3)


def test_by_itself_an_adc_loses_the_least(rng):
    """J. Max's table of optimal uniform quantisers: steps of 1.596, 0.9957, 0.3352."""
    gaussian = complex_normal(rng, (1, 200_000), np.sqrt(2))
    for bits, step, error in ((1, 1.596, 0.3634), (2, 0.9957, 0.1188), (4, 0.3352, 0.01154)):
        best = best_backoff_db(bits)
        assert 2 * 10 ** (best / 20) / 2**bits == pytest.approx(step, rel=2e-3)
        slot = slot_of(rng, devices=1, rms=np.sqrt(2))
        out = Adc(bits).apply(gaussian, slot)
        squared = np.square(np.abs(out - gaussian), dtype=np.float64) / 2
        tolerance = 5 * squared.std() / np.sqrt(squared.size) + 0.005 * error
        assert squared.mean() == pytest.approx(error, abs=tolerance)
    assert best_backoff_db(8) < best_backoff_db(12) < best_backoff_db(24) < 18.1


def test_rounding_within_full_scale_has_a_twelfth_of_a_step_squared(rng):
    """Six bits and a full scale of eight standard deviations, so that nothing is clipped."""
    samples = complex_normal(rng, (1, 100_000), std=0.5)
    out = Adc(bits=6, backoff_db=12.0).apply(samples, slot_of(rng, devices=1, rms=1.0))
    step = 2 * 10 ** (12 / 20) / np.sqrt(2) / 64
    check_mean(np.square(np.abs(out - samples), dtype=np.float64), 2 * step**2 / 12)
    assert float(quantiser(6, 12.0)) == pytest.approx(2 * step**2 / 12)


def test_an_adc_that_hears_nothing_gives_nothing(rng):
    silence = np.zeros((1, 10), np.complex64)
    with np.errstate(all="raise"):
        assert not Adc(4).apply(silence, slot_of(rng, devices=1, rms=0.0)).any()


def test_iq_imbalance_by_hand(rng):
    """6 dB: g = 1.995262; I passes unchanged, Q with gain g."""
    samples = np.array([[1.0, 1j, 2 - 3j]], np.complex64)
    out = IqImbalance(gain_db=6.0).apply(samples, slot_of(rng, devices=1))
    np.testing.assert_allclose(out, [[1, 1.995262j, 2 - 5.985787j]], rtol=1e-5)
    # 30 degrees: Q is turned, 1j becomes 1j e^{j 30 deg}
    out = IqImbalance(phase_deg=30.0).apply(samples, slot_of(rng, devices=1))
    np.testing.assert_allclose(out[0, :2], [1, 1j * np.exp(1j * np.pi / 6)], rtol=1e-5)


def test_iq_imbalance_puts_an_image_on_the_opposite_carrier(rng):
    n = np.arange(64)
    tone = np.exp(2j * np.pi * 5 * n / 64)[None].astype(np.complex64)
    out = IqImbalance(gain_db=1.0, phase_deg=4.0).apply(tone, slot_of(rng, devices=1))
    spectrum = np.fft.fft(out[0]) / 64
    turned = 10 ** (1 / 20) * np.exp(1j * np.deg2rad(4))
    assert spectrum[5] == pytest.approx((1 + turned) / 2, abs=1e-6)
    assert spectrum[-5] == pytest.approx((1 - turned) / 2, abs=1e-6)
    assert np.abs(np.delete(spectrum, [5, 59])).max() < 1e-6
