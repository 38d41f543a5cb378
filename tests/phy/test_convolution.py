"""Convolution in pieces against np.convolve and against a loop over samples, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.convolution import KNOTS, Pieces, between_knots, convolve
from phy.randomness import complex_normal

GRID = OfdmGrid(fft_size=32, cp_length=7, guards=(0, 0), dc_null=False)  # symbols of 39 samples


def spectra_of(taps, pieces):
    return np.fft.fft(taps, pieces.fft_size).astype(np.complex64)


@pytest.mark.parametrize(
    ("num_samples", "num_taps"), [(1, 1), (5, 9), (39, 1), (39, 8), (200, 33), (1001, 64), (78, 2)]
)
def test_a_static_channel_is_numpys_convolution(num_samples, num_taps, rng):
    samples = complex_normal(rng, (3, num_samples))
    taps = complex_normal(rng, (3, 1, num_taps))
    pieces = Pieces(GRID, num_samples, num_taps, moving=False)
    expected = np.array(
        [np.convolve(x.astype(complex), h[0]) for x, h in zip(samples, taps, strict=True)]
    )
    alone = convolve(samples, spectra_of(taps, pieces), pieces, add=False)
    together = convolve(samples, spectra_of(taps, pieces), pieces, add=True)
    assert alone.shape == (3, num_samples + num_taps - 1)
    np.testing.assert_allclose(alone, expected, atol=1e-5 * np.sqrt(num_taps))
    np.testing.assert_allclose(together, expected.sum(axis=0), atol=2e-5 * np.sqrt(num_taps))


def lagrange(values, knots, at):
    """The polynomial through (knots, values) at ``at``."""
    total = 0
    for own, value in zip(knots, values, strict=True):
        weight = 1.0
        for other in knots:
            if other != own:
                weight *= (at - other) / (own - other)
        total = total + weight * value
    return total


@pytest.mark.parametrize(("num_samples", "num_taps"), [(1, 1), (39, 5), (200, 12), (301, 33)])
def test_a_moving_channel_is_a_loop_over_samples(num_samples, num_taps, rng):
    """y[b] = sum_l h[b, l] x[b - l], with h[b] on the cubic of the four knots around b."""
    pieces = Pieces(GRID, num_samples, num_taps, moving=True)
    samples = complex_normal(rng, (2, num_samples))
    taps = complex_normal(rng, (2, len(pieces.knots), num_taps))
    expected = np.zeros((2, pieces.num_outputs), complex)
    spacing = pieces.knot_spacing
    for b in range(pieces.num_outputs):
        first = KNOTS * (b // (KNOTS * spacing))
        around = range(first, first + KNOTS + 1)
        h = lagrange([taps[:, k].astype(complex) for k in around], [k * spacing for k in around], b)
        for lag in range(num_taps):
            if 0 <= b - lag < num_samples:
                expected[:, b] += h[:, lag] * samples[:, b - lag]
    alone = convolve(samples, spectra_of(taps, pieces), pieces, add=False)
    together = convolve(samples, spectra_of(taps, pieces), pieces, add=True)
    np.testing.assert_allclose(alone, expected, atol=3e-5 * np.sqrt(num_taps))
    np.testing.assert_allclose(together, expected.sum(axis=0), atol=4e-5 * np.sqrt(num_taps))


def test_a_turning_path_is_followed_between_its_knots(rng):
    """350 Hz on the default grid: cubics between knots 288 samples apart are off by q^4 / 24."""
    grid = OfdmGrid()
    samples = complex_normal(rng, (1, 4 * grid.symbol_length))
    pieces = Pieces(grid, samples.shape[1], 1, moving=True)
    assert pieces.knot_spacing == 288
    turns = 350.0 / grid.sampling_rate
    taps = np.exp(2j * np.pi * turns * pieces.knots)[None, :, None]
    received = convolve(samples, spectra_of(taps, pieces), pieces, add=True)
    expected = samples[0] * np.exp(2j * np.pi * turns * np.arange(samples.shape[1]))
    np.testing.assert_allclose(received, expected, atol=1e-5)


def test_gains_between_knots_are_those_of_cubics(rng):
    gains = complex_normal(rng, (2, 2 * KNOTS + 1, 3))
    places = np.array([0.0, 10.0, 13.7, 29.9, 30.0, 45.5, 60.0])
    found = between_knots(gains, places, spacing=10.0)
    for place, values in zip(places, np.swapaxes(found, 0, 1), strict=True):
        first = 0 if place < 30 else 3
        knots = range(first, first + 4)
        expected = lagrange(
            [gains[:, k].astype(complex) for k in knots], [10 * k for k in knots], place
        )
        np.testing.assert_allclose(values, expected, atol=1e-5)


def test_how_a_block_is_cut():
    """Symbols of 39 samples: knots 20 apart, three per piece of a moving channel."""
    moving = Pieces(GRID, 200, 12, moving=True)
    assert (moving.num_outputs, moving.knot_spacing, moving.step) == (211, 20, 60)
    assert (moving.count, moving.fft_size) == (4, 128)
    assert moving.knots.tolist() == [20 * k for k in range(13)]
    static = Pieces(GRID, 200, 12, moving=False)
    assert (static.fft_size, static.step, static.count) == (128, 117, 2)
    # a power of two that holds a piece and its taps exactly, and the next one
    assert Pieces(GRID, 200, 5, moving=True).fft_size == 64
    assert Pieces(GRID, 200, 6, moving=True).fft_size == 128
