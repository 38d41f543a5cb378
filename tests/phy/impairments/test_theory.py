"""The closed forms in literal numbers, each worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.impairments import TimingOffset
from phy.impairments.theory import (
    Distorted,
    carrier_offset,
    late_slot,
    papr_ccdf,
    phase_noise,
    quantiser,
    soft_limiter,
    window_times,
)
from phy.randomness import complex_normal
from phy.waveform import demodulate, modulate
from tests.phy.impairments.context import slot_of
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)


def test_error_of_a_gain_and_uncorrelated_distortion():
    assert Distorted(np.array(0.5j), np.array(0.25)).nmse == pytest.approx(1.25 + 0.25)


def test_a_window_begins_after_its_prefix():
    times = window_times(GRID, symbol=2)
    assert (times[0], times[-1], len(times)) == (176, 239, 64)


def test_carrier_offset_by_hand():
    """ORACLES 8: at eps = 0.01 over ten symbols the common phase costs most of the error.

    The phase of symbol 1 is 2 pi 0.25 (80 + 16 + 31.5) / 64.
    """
    effect = carrier_offset(GRID, 0.25, symbol=1)
    assert np.angle(effect.gain) == pytest.approx(2 * np.pi * 0.25 * 127.5 / 64)
    # sin(pi/4) / (64 sin(pi/256)) = 0.900339
    assert abs(effect.gain) == pytest.approx(0.900339, abs=2e-6)
    assert float(effect.distortion) == pytest.approx(1 - 0.900339**2, abs=4e-6)
    assert carrier_offset(GRID, 0.0, 3).nmse == pytest.approx(0)
    mean = np.mean([carrier_offset(OfdmGrid(), 0.01, symbol).nmse for symbol in range(10)])
    assert mean == pytest.approx(0.165, abs=5e-4)


def test_phase_noise_by_hand():
    """exp(-pi dv t) at the middle of symbol 1's window, 127.5 samples: nearly its mean."""
    effect = phase_noise(GRID, linewidth=200.0, symbol=1)
    assert float(effect.gain) == pytest.approx(np.exp(-np.pi * 200 * 127.5 / 1.92e6), rel=1e-4)
    assert float(effect.distortion) == pytest.approx(1 - float(effect.gain) ** 2)


@pytest.mark.parametrize("late", [1, 8])
def test_a_late_slot_by_hand_and_in_samples(late, rng):
    effect = late_slot(GRID, late)
    assert float(effect.gain) == (64 - late) / 64
    assert float(effect.distortion) == pytest.approx(1 - ((64 - late) / 64) ** 2)
    elements = complex_normal(rng, (400, 3, 64))
    out = TimingOffset(16 + late).apply(modulate(GRID, elements), slot_of(rng, devices=400))
    heard = demodulate(GRID, out, 0, 3)[:, 1:]
    ramp = np.exp(-2j * np.pi * GRID.used_carriers * (16 + late) / 64)
    aligned = heard * ramp.conj() * elements[:, 1:].conj()
    # one value per device: the carriers of a symbol interfere with each other
    check_mean(aligned.real.mean(axis=(1, 2)), (64 - late) / 64)
    check_mean(np.square(np.abs(heard)).mean(axis=(1, 2)), 1.0)


def test_the_soft_limiter_by_hand():
    """c = 1: gain 1 - 1/e + sqrt(pi)/2 erfc(1) = 0.771523, output power 1 - 1/e."""
    effect = soft_limiter(0.0)
    assert float(effect.gain) == pytest.approx(0.771523, abs=1e-6)
    assert float(effect.distortion) == pytest.approx(0.632121 - 0.771523**2, abs=2e-6)
    far = soft_limiter(20.0)
    assert float(far.gain) == pytest.approx(1)
    assert float(far.distortion) == pytest.approx(0, abs=1e-12)


def test_the_quantiser_by_hand():
    """Full scale equal to the rms of I or Q: step^2 / 12 with step = 2 / 2^bits, both rails."""
    assert float(quantiser(1, 0.0)) == pytest.approx(1 / 12)
    assert float(quantiser(10, 20.0)) == pytest.approx(100 * (2 / 1024) ** 2 / 12)


def test_the_distribution_of_papr_by_hand():
    assert float(papr_ccdf(np.log(2), 1)) == pytest.approx(0.5)
    assert float(papr_ccdf(np.log(2), 3)) == pytest.approx(1 - 1 / 8)
    assert float(papr_ccdf(30.0, 64)) == pytest.approx(64 * np.exp(-30), rel=1e-6)
