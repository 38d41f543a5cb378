"""Unit-magnitude complex numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from otafl._base.arrays import ComplexArray


def phasors(turns: NDArray[np.floating]) -> ComplexArray:
    """Return exp(j 2 pi turns), dropping whole turns in the precision of the input."""
    phases = (2 * np.pi * (turns - np.rint(turns))).astype(np.float32)
    waves = np.empty(phases.shape, np.complex64)
    waves.real = np.cos(phases)
    waves.imag = np.sin(phases)
    return waves


def unit_phasors(values: ComplexArray) -> ComplexArray:
    """Return ``values`` scaled to unit magnitude; zero stays zero."""
    smallest = np.finfo(np.float32).tiny
    inverse = 1 / np.maximum(np.abs(values), smallest)  # one division instead of two
    return values * inverse
