"""Rotations by a phase that may grow over many turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def phasors(turns: NDArray[np.floating]) -> NDArray[np.complex64]:
    """exp(j 2 pi turns); whole turns are dropped while there are digits for it."""
    phases = (2 * np.pi * (turns - np.rint(turns))).astype(np.float32)
    waves = np.empty(phases.shape, np.complex64)
    waves.real = np.cos(phases)
    waves.imag = np.sin(phases)
    return waves


def phases_of(values: NDArray[np.complex64]) -> NDArray[np.complex64]:
    """``values`` brought to magnitude one; zero stays zero."""
    smallest = np.finfo(np.float32).tiny
    inverse = 1 / np.maximum(np.abs(values), smallest)  # one division instead of two
    return values * inverse
