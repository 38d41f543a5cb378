"""Sending a vector digitally: quantisation with stochastic rounding, and the rate of a channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SCALE_BITS = 32  # each vector's largest magnitude goes along as a float


def quantiser(vector: NDArray, bits: int) -> tuple[NDArray[np.float64], float, float]:
    """A vector in steps of its quantiser: ``vector = lowest + step * levels``.

    2^bits levels reach from -max|v| to +max|v|.
    """
    peak = float(np.abs(vector).max())
    step = 2 * peak / (2**bits - 1)
    levels = (vector.astype(np.float64) + peak) / step if step > 0 else np.zeros(vector.shape)
    return levels, step, -peak


def quantise(vector: NDArray, bits: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Round each entry up or down at random so that its mean is right."""
    levels, step, lowest = quantiser(vector, bits)
    whole = np.floor(levels + rng.random(vector.shape))
    return lowest + step * np.minimum(whole, 2**bits - 1)


def rounding_variance(vector: NDArray, bits: int) -> float:
    """E ||quantise(v) - v||^2 = step^2 sum f (1 - f), f the fractional parts of the levels."""
    levels, step, _ = quantiser(vector, bits)
    fraction = levels - np.floor(levels)
    return float(step**2 * (fraction * (1 - fraction)).sum())


def spectral_efficiency(
    snr: NDArray[np.float64], gap_db: float, highest: float
) -> NDArray[np.float64]:
    """min(log2(1 + snr / gap), highest) bits a resource element."""
    return np.minimum(np.log1p(snr * 10 ** (-gap_db / 10)) / np.log(2), highest)
