r"""Closed forms that the faults are validated against.

They hold where every carrier is used (guards=(0, 0), dc_null=False), for symbols that are
independent and of unit variance, away from a burst's first symbol.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc

from phy.grid import OfdmGrid
from phy.waveform import symbol_length


class Distorted(NamedTuple):
    """y = gain x + d, with d uncorrelated with x and of some power."""

    gain: NDArray[np.float64]
    distortion: NDArray[np.float64]

    @property
    def nmse(self) -> NDArray[np.float64]:
        """E |y - x|^2 / E |x|^2"""
        return np.square(np.abs(1 - self.gain)) + self.distortion


def window_times(grid: OfdmGrid, symbol: int) -> NDArray[np.int64]:
    """When a symbol's FFT takes its samples, counted from the beginning of the slot."""
    return symbol * symbol_length(grid) + grid.cp_length + np.arange(grid.fft_size)


def carrier_offset(grid: OfdmGrid, offset: float, symbol: int) -> Distorted:
    """An offset of so many spacings: the common gain of a symbol, with its phase, and the
    interference between carriers.

    >>> effect = carrier_offset(OfdmGrid(), 0.01, symbol=0)
    >>> print(f"{abs(effect.gain):.5f} {effect.distortion:.1e}")
    0.99984 3.3e-04
    """
    size = grid.fft_size
    gain = np.sinc(offset) / np.sinc(offset / size)
    start = symbol * symbol_length(grid) + grid.cp_length
    turns = offset * (start + (size - 1) / 2) / size
    return Distorted(gain * np.exp(2j * np.pi * turns), np.asarray(1 - gain**2))


def phase_noise(grid: OfdmGrid, linewidth: float, symbol: int) -> Distorted:
    """A Wiener phase: E[exp(j phi(t))] = exp(-pi dv t), averaged over a symbol's FFT.

    Distortion here is all that a fixed gain does not explain: phases that the carriers of a symbol
    have in common, which differ from symbol to symbol, and interference between them.
    """
    gain = np.exp(-np.pi * linewidth * window_times(grid, symbol) / grid.sampling_rate).mean()
    return Distorted(gain, 1 - gain**2)


def late_burst(grid: OfdmGrid, samples: int) -> Distorted:
    """``samples`` beyond the prefix; the phase ramp of the whole delay comes on top."""
    gain = np.asarray(1 - samples / grid.fft_size)
    return Distorted(gain, 1 - gain**2)


def soft_limiter(backoff_db: ArrayLike) -> Distorted:
    """On Gaussian samples of the budgeted power (Bussgang).

    >>> print(f"{soft_limiter(0.0).nmse:.4f}")
    0.0891
    """
    c = 10 ** (np.asarray(backoff_db, np.float64) / 20)
    gain = 1 - np.exp(-(c**2)) + np.sqrt(np.pi) * c / 2 * erfc(c)
    return Distorted(gain, 1 - np.exp(-(c**2)) - gain**2)


def quantiser(bits: ArrayLike, backoff_db: ArrayLike) -> NDArray[np.float64]:
    """Rounding of an Adc that is not overloaded, over the signal's power: step^2 / 12 in I and Q.

    >>> print(f"{10 * np.log10(quantiser(10, 12.0)):.1f} dB")
    -53.0 dB
    """
    steps = 2.0 ** (1 - np.asarray(bits))
    return np.square(steps) * 10 ** (np.asarray(backoff_db) / 10) / 12


def papr_ccdf(ratio: ArrayLike, num_samples: float) -> NDArray[np.float64]:
    """P(PAPR > ratio), linear, for independent Gaussian samples: 1 - (1 - e^-z)^n.

    n is the number of carriers at the Nyquist rate; about 2.8 times as many oversampled.
    """
    return -np.expm1(num_samples * np.log1p(-np.exp(-np.asarray(ratio, np.float64))))
