r"""Closed forms that the impairments are validated against.

They hold where every carrier is used (guards=(0, 0), dc_null=False), for symbols that are
independent and of unit variance, away from a slot's first symbol.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfc

from otafl._base.arrays import FloatArray, IntArray
from otafl._base.decibels import amplitude_from_db, from_db
from phy.grid import OfdmGrid


class Distorted(NamedTuple):
    """y = gain x + d, with d uncorrelated with x.

    Attributes
    ----------
    gain : ndarray
        Real or complex.
    distortion : ndarray of float
        Power of d over that of x.
    """

    gain: FloatArray
    distortion: FloatArray

    @property
    def nmse(self) -> FloatArray:
        """E |y - x|^2 / E |x|^2."""
        return np.square(np.abs(1 - self.gain)) + self.distortion


def window_times(grid: OfdmGrid, symbol: int) -> IntArray:
    """Return when a symbol's FFT takes its samples, counted from the beginning of the slot."""
    return symbol * grid.symbol_length + grid.cp_length + np.arange(grid.fft_size)


def carrier_offset(grid: OfdmGrid, offset: float, symbol: int) -> Distorted:
    """Return the effect of a carrier offset of ``offset`` spacings.

    The gain is common to the carriers of a symbol, with its phase; the distortion is the
    interference between carriers.

    >>> effect = carrier_offset(OfdmGrid(), 0.01, symbol=0)
    >>> print(f"{abs(effect.gain):.5f} {effect.distortion:.1e}")
    0.99984 3.3e-04
    """
    size = grid.fft_size
    gain = np.sinc(offset) / np.sinc(offset / size)
    start = symbol * grid.symbol_length + grid.cp_length
    turns = offset * (start + (size - 1) / 2) / size
    return Distorted(gain * np.exp(2j * np.pi * turns), np.asarray(1 - gain**2))


def phase_noise(grid: OfdmGrid, linewidth: float, symbol: int) -> Distorted:
    """Return the effect of a Wiener phase: E[exp(j phi(t))] = exp(-pi dv t) over a symbol's FFT.

    Distortion here is all that a fixed gain does not explain: phases that the carriers of a symbol
    have in common, which differ from symbol to symbol, and interference between carriers.
    """
    gain = np.exp(-np.pi * linewidth * window_times(grid, symbol) / grid.sampling_rate).mean()
    return Distorted(gain, 1 - gain**2)


def late_slot(grid: OfdmGrid, samples: int) -> Distorted:
    """Return the effect of ``samples`` beyond the prefix; its phase ramp is not included."""
    gain = np.asarray(1 - samples / grid.fft_size)
    return Distorted(gain, 1 - gain**2)


def soft_limiter(backoff_db: ArrayLike) -> Distorted:
    """Return the effect on Gaussian samples of the budgeted power (Bussgang).

    >>> print(f"{soft_limiter(0.0).nmse:.4f}")
    0.0891
    """
    c = amplitude_from_db(np.asarray(backoff_db, np.float64))
    gain = 1 - np.exp(-(c**2)) + np.sqrt(np.pi) * c / 2 * erfc(c)
    return Distorted(gain, 1 - np.exp(-(c**2)) - gain**2)


def quantiser(bits: ArrayLike, backoff_db: ArrayLike) -> FloatArray:
    """Return the rounding error of an Adc that is not overloaded, over the signal's power.

    It is step^2 / 12 in each of I and Q.

    >>> print(f"{10 * np.log10(quantiser(10, 12.0)):.1f} dB")
    -53.0 dB
    """
    steps = 2.0 ** (1 - np.asarray(bits))
    return np.square(steps) * from_db(np.asarray(backoff_db)) / 12


def papr_ccdf(ratio: ArrayLike, num_samples: float) -> FloatArray:
    """Return P(PAPR > ratio), linear, for independent Gaussian samples: 1 - (1 - e^-z)^n.

    n is the number of carriers at the Nyquist rate; about 2.8 times as many oversampled.
    """
    return -np.expm1(num_samples * np.log1p(-np.exp(-np.asarray(ratio, np.float64))))
