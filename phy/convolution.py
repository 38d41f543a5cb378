r"""Convolution of bursts with the clients' channels, static or moving, by pieces.

    y[b] = sum_i sum_l h_i[b, l] x_i[b - l]

Overlap and save: each piece of ``step`` outputs is one product of spectra, summed over the clients
before it is transformed back. A moving channel's path gains are known at knots, two an OFDM symbol,
and follow cubics between them: with q radians of Doppler between knots the error is below
q^4 / 24, which is 2e-8 at 100 km/h and 3.5 GHz. Then h = sum_k c_k(b) h_k with the four cubics of
a piece, and y the sum of four static pieces, each times its cubic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.typing import NDArray
from scipy import fft

from phy.grid import OfdmGrid
from phy.waveform import symbol_length

KNOTS = 3  # of a piece, whose end is the next one's beginning


@dataclass(frozen=True)
class Pieces:
    """How the convolution of ``num_samples`` with ``num_taps`` is cut.

    A moving channel's pieces end at knots, whatever its taps; others fill their FFT.
    """

    grid: OfdmGrid
    num_samples: int
    num_taps: int
    moving: bool

    @property
    def num_outputs(self) -> int:
        return self.num_samples + self.num_taps - 1

    @property
    def knot_spacing(self) -> int:
        """[samples]"""
        return -(-symbol_length(self.grid) // 2)

    @cached_property
    def step(self) -> int:
        return KNOTS * self.knot_spacing if self.moving else self.fft_size - self.num_taps + 1

    @property
    def count(self) -> int:
        return -(-self.num_outputs // self.step)

    @cached_property
    def fft_size(self) -> int:
        """A power of two, which FFTs like best."""
        return 1 << (KNOTS * self.knot_spacing + self.num_taps - 2).bit_length()

    @property
    def knots(self) -> NDArray[np.int64]:
        """Where a moving channel is to be known, counted in outputs."""
        return np.arange(KNOTS * self.count + 1) * self.knot_spacing


def convolve(
    samples: NDArray[np.complex64], spectra: NDArray[np.complex64], pieces: Pieces, *, add: bool
) -> NDArray[np.complex64]:
    """``samples [m, num_samples]`` through their channels, all added up to ``[num_outputs]``.

    spectra : [m, knots, pieces.fft_size] of the taps at each knot, or one if nothing moves
    add : or else each client's output by itself, [m, num_outputs]
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
        outputs = np.einsum("...kn,kn->...n", parts, _cubics_of(step))
    each = outputs.reshape(1 if add else len(samples), -1)[:, : pieces.num_outputs]
    return each[0] if add else each


def between_knots(
    gains: NDArray[np.complex64], places: NDArray[np.floating], spacing: float
) -> NDArray[np.complex64]:
    """Path gains at ``places`` [samples], ``[m, knots, paths]`` to ``[m, places, paths]``."""
    last = (gains.shape[1] - 1) // KNOTS - 1
    piece = np.clip(places // (KNOTS * spacing), 0, last).astype(int)
    weights = cubics(places / spacing - KNOTS * piece).astype(np.float32)
    around = gains[:, KNOTS * piece[:, None] + np.arange(KNOTS + 1)]
    return np.einsum("mtkp,kt->mtp", around, weights)


def cubics(at: NDArray[np.floating]) -> NDArray[np.float64]:
    """Lagrange's polynomials through the knots 0, 1, 2, 3: [4, ...], one at its own knot."""
    knots = range(KNOTS + 1)
    return np.array(
        [math.prod((at - k) / (own - k) for k in knots if k != own) for own in knots], np.float64
    )


@lru_cache(maxsize=8)
def _cubics_of(step: int) -> NDArray[np.float32]:
    return cubics(np.arange(step) * (KNOTS / step)).astype(np.float32)
