"""Fractional delays and drifting clocks, by the windowed sinc of :mod:`phy.interpolation`.

``REACH`` samples to either side: within 0.84 of the band the error is below 2e-4 in amplitude.
Beyond its ends a signal is zero.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from otafl._base.arrays import ComplexArray, FloatArray
from phy.interpolation import cubics, windowed_sinc

REACH = 16
KAISER_BETA = 8.0
LARGEST_DRIFT = 0.2  # samples, over which a cubic is as good as the kernel


def delayed(
    samples: ComplexArray, delay: FloatArray, drift: FloatArray | None = None
) -> ComplexArray:
    """Return ``samples [m, n]`` at n - delay - drift n.

    Parameters
    ----------
    samples : ndarray of complex64, shape [m, n]
        Signals, one per row.
    delay : ndarray of float, shape [m]
        [samples]
    drift : ndarray of float, shape [m], optional
        Samples per sample.
    """
    drifts = np.zeros(len(delay)) if drift is None else drift
    return np.stack([_moved(*each) for each in zip(samples, delay, drifts, strict=True)])


def _moved(samples: ComplexArray, delay: float, drift: float) -> ComplexArray:
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


def _ahead(samples: ComplexArray, shift: float, start: int, stop: int) -> ComplexArray:
    """Return the signal at n + shift, for n from ``start`` to ``stop``."""
    whole = math.floor(shift + 1e-9)
    past = shift - whole
    if past < 1e-6:
        return _padded(samples, start + whole, stop + whole)
    around = _padded(samples, start + whole + 1 - REACH, stop + whole + REACH)
    offsets = np.arange(1 - REACH, REACH + 1) - past
    kernel = windowed_sinc(offsets, REACH, KAISER_BETA).astype(np.float32)
    return np.convolve(around, kernel[::-1], mode="valid").astype(np.complex64, copy=False)


def _padded(samples: ComplexArray, start: int, stop: int) -> ComplexArray:
    """Return the samples from ``start`` to ``stop``, zero where there are none."""
    taken = np.zeros(stop - start, np.complex64)
    low, high = max(0, start), min(len(samples), stop)
    if low < high:
        taken[low - start : high - start] = samples[low:high]
    return taken
