"""Unit-magnitude complex numbers."""

from __future__ import annotations

import numpy as np

from phy.phasors import phasors, unit_phasors


def test_phasors_by_hand():
    waves = phasors(np.array([0.0, 0.25, 0.5, -0.25, 1.125]))
    assert waves.dtype == np.complex64
    np.testing.assert_allclose(waves, [1, 1j, -1, -1j, (1 + 1j) / np.sqrt(2)], atol=1e-7)


def test_whole_turns_cost_no_accuracy():
    turns = np.array([[0.1, 0.7], [0.3, -0.2]])
    np.testing.assert_allclose(phasors(turns + 2**30), phasors(turns), atol=2e-6)
    np.testing.assert_allclose(np.abs(phasors(np.linspace(-1e9, 1e9, 1001))), 1, atol=1e-6)


def test_unit_phasors_keep_the_phase_and_zero_stays_zero():
    values = np.array([3j, -1e-30, 1e30 * (1 + 1j), 0], np.complex64)
    with np.errstate(all="raise"):
        units = unit_phasors(values)
    np.testing.assert_allclose(units, [1j, -1, (1 + 1j) / np.sqrt(2), 0], atol=1e-6)
    assert units.dtype == np.complex64
