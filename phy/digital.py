"""Sending a vector digitally: quantisation with stochastic rounding, and the rate of a channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from otafl._base.arrays import FloatArray, Rng
from otafl._base.decibels import from_db

SCALE_BITS = 32  # each vector's largest magnitude is sent as a float


def quantiser(vector: NDArray, bits: int) -> tuple[FloatArray, float, float]:
    """Return a vector in steps of its quantiser: ``vector = lowest + step * levels``.

    Its 2^bits levels extend from -max|v| to +max|v|.

    Returns
    -------
    levels : ndarray of float
    step, lowest : float
    """
    peak = float(np.abs(vector).max())
    step = 2 * peak / (2**bits - 1)
    levels = (vector.astype(np.float64) + peak) / step if step > 0 else np.zeros(vector.shape)
    return levels, step, -peak


def quantise(vector: NDArray, bits: int, rng: Rng) -> FloatArray:
    """Return the vector with each entry rounded up or down at random, without bias."""
    levels, step, lowest = quantiser(vector, bits)
    whole = np.floor(levels + rng.random(vector.shape))
    return lowest + step * np.minimum(whole, 2**bits - 1)


def rounding_variance(vector: NDArray, bits: int) -> float:
    """Return E ||quantise(v) - v||^2 = step^2 sum f (1 - f), f the levels' fractional parts."""
    levels, step, _ = quantiser(vector, bits)
    fraction = levels - np.floor(levels)
    return float(step**2 * (fraction * (1 - fraction)).sum())


def spectral_efficiency(snr: FloatArray, gap_db: float, highest: float) -> FloatArray:
    """Return min(log2(1 + snr / gap), highest), in bits per resource element."""
    return np.minimum(np.log1p(snr * from_db(-gap_db)) / np.log(2), highest)
