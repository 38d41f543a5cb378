"""OFDM symbols against the sum of complex exponentials, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.randomness import complex_normal
from phy.waveform import (
    demodulate,
    empty_bins,
    from_bins,
    modulate,
    papr,
    shift_phases,
    squared_magnitude,
    to_bins,
)

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))
GRIDS = [
    GRID,
    OfdmGrid(fft_size=15, cp_length=3, guards=(0, 0), dc_null=False),
    OfdmGrid(fft_size=16, cp_length=16, guards=(0, 0), dc_null=True),
    OfdmGrid(fft_size=16, cp_length=0, guards=(9, 2), dc_null=False),  # above frequency zero only
    OfdmGrid(fft_size=16, cp_length=4, guards=(1, 9), dc_null=False),  # below it only
    OfdmGrid(fft_size=1, cp_length=0, guards=(0, 0), dc_null=False),
    OfdmGrid(fft_size=32, cp_length=8, guards=(3, 3), pilots=4),
]


def exponentials(grid, times):
    """exp(j 2 pi k n / N) / sqrt(N): [times, used carriers]"""
    turns = np.outer(times, grid.used_carriers) / grid.fft_size
    return np.exp(2j * np.pi * turns) / np.sqrt(grid.fft_size)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.fft_size}-{grid.guards}")
def test_samples_are_the_sum_of_the_carriers_with_a_prefix(grid, rng):
    elements = complex_normal(rng, (2, 3, len(grid.used_carriers)))
    samples = modulate(grid, elements)
    assert samples.shape == (2, 3 * grid.symbol_length)
    times = np.arange(-grid.cp_length, grid.fft_size)
    expected = elements.astype(complex) @ exponentials(grid, times).T
    np.testing.assert_allclose(samples.reshape(expected.shape), expected, atol=1e-5)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.fft_size}-{grid.guards}")
def test_elements_are_correlations_with_the_carriers(grid, rng):
    samples = complex_normal(rng, (2, 2 * grid.symbol_length + 3))  # what comes later is ignored
    elements = demodulate(grid, samples, 0, 2)
    windows = samples[:, : 2 * grid.symbol_length].reshape(2, 2, -1)[..., grid.cp_length :]
    waves = exponentials(grid, np.arange(grid.fft_size)).conj()
    np.testing.assert_allclose(elements, windows.astype(complex) @ waves, atol=1e-5)


def test_modulation_is_undone_from_anywhere_in_the_prefix(rng):
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    samples = modulate(GRID, elements)
    for early in (0, 5, 16):
        waited = np.concatenate([np.zeros((2, early), np.complex64), samples], axis=1)
        np.testing.assert_allclose(demodulate(GRID, waited, -early, 3), elements, atol=1e-5)


def test_a_symbol_without_its_prefix_has_the_energy_of_its_elements(rng):
    elements = complex_normal(rng, (1, 1, GRID.num_carriers))
    body = modulate(GRID, elements)[0, GRID.cp_length :]
    energy = np.square(np.abs(elements), dtype=np.float64).sum()
    assert np.square(np.abs(body), dtype=np.float64).sum() == pytest.approx(energy, rel=1e-5)


def test_a_delay_turns_carriers_in_proportion_to_their_frequency():
    expected = np.exp(-2j * np.pi * 3 * GRID.used_carriers / 64)
    np.testing.assert_allclose(shift_phases(GRID, 3), expected, atol=1e-6)
    assert shift_phases(GRID, 3) is shift_phases(GRID, 3)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.fft_size}-{grid.guards}")
@pytest.mark.parametrize("oversampling", [1, 4])
def test_carriers_go_to_their_bins_and_all_others_are_zeroed(grid, oversampling, rng):
    elements = complex_normal(rng, (2, len(grid.used_carriers)))
    size = oversampling * grid.fft_size
    bins = to_bins(grid, elements, np.full((2, size), np.nan, np.complex64))
    expected = np.zeros((2, size), complex)
    expected[:, grid.used_carriers % size] = elements
    np.testing.assert_array_equal(bins, expected)
    np.testing.assert_array_equal(from_bins(grid, bins), elements)
    assert empty_bins(elements, size).shape == (2, size)


def test_papr_by_hand():
    one = np.zeros((1, GRID.num_carriers), np.complex64)
    one[0, 7] = 3j
    np.testing.assert_allclose(papr(GRID, one), 1, rtol=1e-5)
    # all carriers in phase add up at time zero: their number, at any oversampling
    together = np.ones((2, GRID.num_carriers), np.complex64)
    for oversampling in (1, 4):
        found = papr(GRID, together, oversampling)
        np.testing.assert_allclose(found, GRID.num_carriers, rtol=1e-5)
    assert np.isnan(papr(GRID, np.zeros((2, GRID.num_carriers), np.complex64))).all()


def test_oversampling_sees_the_peaks_between_samples():
    """Carriers k = 0 and 1 turned to meet half a sample after time zero: a peak power of 4."""
    grid = OfdmGrid(fft_size=4, cp_length=0, guards=(2, 0), dc_null=False)
    elements = np.array([[1.0, np.exp(-2j * np.pi * 0.5 / 4)]], np.complex64)
    assert papr(grid, elements, 1)[0] == pytest.approx(1 + np.cos(np.pi / 4), rel=1e-5)
    assert papr(grid, elements, 2)[0] == pytest.approx(2, rel=1e-5)
    assert papr(grid, elements)[0] == pytest.approx(2, rel=1e-5)


def test_squared_magnitude():
    power = squared_magnitude(np.array([3 + 4j, 0, -1j], np.complex64))
    np.testing.assert_allclose(power, [25, 0, 1], rtol=1e-6)
    assert power.dtype == np.float32
