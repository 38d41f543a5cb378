r"""Between samples: the windowed sinc that fractional delays are made of, and cubics.

    k(t) = sinc(t) I0(beta sqrt(1 - (t / reach)^2)) / I0(beta),   |t| < reach

A plain sinc that is cut off ripples by several per cent all over the band (Gibbs). Kaiser's window
trades that for a transition band around the Nyquist frequency: carriers close to it lose power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0

from otafl._base.arrays import FloatArray


def windowed_sinc(offsets: NDArray[np.floating], reach: float, beta: float) -> FloatArray:
    """Return the kernel at ``offsets`` [samples]; zero beyond ``reach``.

    Parameters
    ----------
    offsets : ndarray of float
        Distances from the kernel's centre [samples].
    reach : float
        Half of the kernel's support [samples].
    beta : float
        Shape of Kaiser's window; larger means less ripple and a wider transition band.
    """
    inside = np.square(offsets / reach) < 1
    window = i0(beta * np.sqrt(np.where(inside, 1 - np.square(offsets / reach), 0)))
    return np.where(inside, np.sinc(offsets) * window / i0(beta), 0.0)


def cubics(at: NDArray[np.floating], knots: Sequence[int] = range(4)) -> FloatArray:
    """Return Lagrange's polynomials through the knots 0, 1, 2, 3 at the points ``at``.

    The result has shape [4, ...]; each polynomial is 1 at its own knot and 0 at the others.
    """
    return np.array(
        [math.prod((at - k) / (own - k) for k in knots if k != own) for own in knots], np.float64
    )
