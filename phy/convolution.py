r"""Convolution of samples with the clients' channels, static or moving, piece by piece.

    y[b] = sum_i sum_l h_i[b, l] x_i[b - l]

Overlap and save: each piece of ``step`` outputs is one product of spectra, summed over the clients
before it is transformed back. A moving channel's path gains are known at knots, two per OFDM
symbol, and follow cubics between them: with q radians of Doppler between knots the error is below
q^4 / 24, which is 2e-8 at 100 km/h and 3.5 GHz. Then h = sum_k c_k(b) h_k with the four cubics of
a piece, and y is the sum of four static pieces, each times its cubic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.typing import NDArray
from scipy import fft

from otafl._base.arrays import ComplexArray, Float32Array, IntArray
from phy.grid import OfdmGrid
from phy.interpolation import cubics

KNOTS = 3  # per piece; the end of a piece is the beginning of the next


@dataclass(frozen=True)
class Pieces:
    """How a convolution is cut into pieces.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology, which sets the distance between knots.
    num_samples, num_taps : int
        Lengths of what is convolved.
    moving : bool
        Pieces of a moving channel end at knots, whatever its taps; others fill their FFT.
    """

    grid: OfdmGrid
    num_samples: int
    num_taps: int
    moving: bool

    @property
    def num_outputs(self) -> int:
        """Samples after the convolution."""
        return self.num_samples + self.num_taps - 1

    @property
    def knot_spacing(self) -> int:
        """Distance between knots [samples]."""
        return -(-self.grid.symbol_length // 2)

    @cached_property
    def step(self) -> int:
        """Outputs per piece."""
        return KNOTS * self.knot_spacing if self.moving else self.fft_size - self.num_taps + 1

    @property
    def count(self) -> int:
        """Number of pieces."""
        return -(-self.num_outputs // self.step)

    @cached_property
    def fft_size(self) -> int:
        """Size of a piece's FFT: a power of two, which is fastest."""
        return 1 << (KNOTS * self.knot_spacing + self.num_taps - 2).bit_length()

    @property
    def knots(self) -> IntArray:
        """Where a moving channel must be known, counted in outputs."""
        return np.arange(KNOTS * self.count + 1) * self.knot_spacing


def convolve(
    samples: ComplexArray, spectra: ComplexArray, pieces: Pieces, *, add: bool
) -> ComplexArray:
    """Return what arrives of ``samples`` through the clients' channels.

    Parameters
    ----------
    samples : ndarray of complex64, shape [m, num_samples]
        What each client sends.
    spectra : ndarray of complex64, shape [m, knots, pieces.fft_size]
        Spectra of the taps at each knot, or one if nothing moves.
    pieces : Pieces
        How the convolution is cut.
    add : bool
        Whether to add the clients up.

    Returns
    -------
    ndarray of complex64, shape [num_outputs], or [m, num_outputs] without ``add``
    """
    size, step, count = pieces.fft_size, pieces.step, pieces.count
    before = pieces.num_taps - 1
    padded = np.zeros((len(samples), (count - 1) * step + size), np.complex64)
    padded[:, before : before + pieces.num_samples] = samples
    windows = as_strided(
        padded,
        (len(samples), count, size),
        (padded.strides[0], step * padded.itemsize, padded.itemsize),
        writeable=False,
    )
    bins = fft.fft(windows)
    if not pieces.moving:
        bins *= spectra
        bins = bins.sum(axis=0, keepdims=True) if add else bins
        outputs = fft.ifft(bins, overwrite_x=True)[..., before : before + step]
    else:
        around = sliding_window_view(spectra, KNOTS + 1, axis=1)[:, : KNOTS * count : KNOTS]
        bins = np.einsum("mpf,mpfk->pkf" if add else "mpf,mpfk->mpkf", bins, around)
        parts = fft.ifft(bins, overwrite_x=True)[..., before : before + step]
        outputs = np.einsum("...kn,kn->...n", parts, _cubics_at_outputs(step))
    each = outputs.reshape(1 if add else len(samples), -1)[:, : pieces.num_outputs]
    return each[0] if add else each


def between_knots(
    gains: ComplexArray, places: NDArray[np.floating], spacing: float
) -> ComplexArray:
    """Return path gains [m, knots, paths] at ``places`` [samples], shape [m, places, paths]."""
    last = (gains.shape[1] - 1) // KNOTS - 1
    piece = np.clip(places // (KNOTS * spacing), 0, last).astype(int)
    weights = cubics(places / spacing - KNOTS * piece).astype(np.float32)
    around = gains[:, KNOTS * piece[:, None] + np.arange(KNOTS + 1)]
    return np.einsum("mtkp,kt->mtp", around, weights)


@lru_cache(maxsize=8)
def _cubics_at_outputs(step: int) -> Float32Array:
    return cubics(np.arange(step) * (KNOTS / step)).astype(np.float32)
