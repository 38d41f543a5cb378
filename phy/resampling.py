"""Samples between the samples: delays of a part of a sample, and clocks that drift.

By a sinc under a Kaiser window, ``REACH`` samples to either side: within 0.85 of the band the error
is below 2e-4 in amplitude. Beyond its ends a signal is zero.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0

from phy.convolution import cubics

REACH = 16
KAISER_BETA = 8.0
LARGEST_DRIFT = 0.2  # samples, over which a cubic is as good as the kernel


def _kernel(past: float) -> NDArray[np.float32]:
    """[2 REACH], weights of the samples around a point that is some way past a sample."""
    away = np.arange(1 - REACH, REACH + 1) - past
    window = i0(KAISER_BETA * np.sqrt(np.maximum(0, 1 - np.square(away / REACH))))
    return (np.sinc(away) * window / i0(KAISER_BETA)).astype(np.float32)


def delayed(
    samples: NDArray[np.complex64],
    delay: NDArray[np.float64],
    drift: NDArray[np.float64] | None = None,
) -> NDArray[np.complex64]:
    """``samples [m, n]`` at n - delay - drift n, with a delay and a drift for each of m."""
    drifts = np.zeros(len(delay)) if drift is None else drift
    return np.stack([_moved(*each) for each in zip(samples, delay, drifts, strict=True)])


def _moved(samples: NDArray[np.complex64], delay: float, drift: float) -> NDArray[np.complex64]:
    if drift == 0:
        return _ahead(samples, -delay, 0, len(samples))
    # between four delays that lie close together, samples follow cubics
    count = len(samples)
    pieces = math.ceil(abs(drift) * count / LARGEST_DRIFT)
    bounds = np.linspace(0, count, pieces + 1).astype(int)
    moved = np.empty(count, np.complex64)
    for start, stop in itertools.pairwise(bounds.tolist()):
        knots = start + (stop - start) * np.arange(4) / 3
        parts = [_ahead(samples, -delay - drift * knot, start, stop) for knot in knots]
        weights = cubics(np.arange(stop - start) * (3 / (stop - start)))
        moved[start:stop] = np.einsum("kn,kn->n", parts, weights)
    return moved


def _ahead(
    samples: NDArray[np.complex64], shift: float, start: int, stop: int
) -> NDArray[np.complex64]:
    """At n + shift, for n from ``start`` to ``stop``."""
    whole = math.floor(shift + 1e-9)
    past = shift - whole
    if past < 1e-6:
        return _padded(samples, start + whole, stop + whole)
    around = _padded(samples, start + whole + 1 - REACH, stop + whole + REACH)
    return np.convolve(around, _kernel(past)[::-1], mode="valid").astype(np.complex64, copy=False)


def _padded(samples: NDArray[np.complex64], start: int, stop: int) -> NDArray[np.complex64]:
    """Samples from ``start`` to ``stop``, zero where there are none."""
    taken = np.zeros(stop - start, np.complex64)
    low, high = max(0, start), min(len(samples), stop)
    if low < high:
        taken[low - start : high - start] = samples[low:high]
    return taken
