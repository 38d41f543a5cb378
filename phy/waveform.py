r"""Cyclic-prefix OFDM in the time domain, by pocketfft.

Symbol l of a burst has the samples, n = -cp_length ... fft_size - 1,

    x[l, n] = 1/sqrt(N) sum_k X[l, k] exp(j 2 pi k n / N)

The transform is unitary, so a symbol's energy without its prefix is that of its elements, and noise
of variance N0 a sample is noise of variance N0 an element. A burst is one slot: samples are counted
from the beginning of its first prefix, and before and after it there is silence.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from phy.grid import OfdmGrid
from phy.phasors import phasors
from phy.scratch import scratch

PAPR_OVERSAMPLING = 4  # beyond which the peaks of a band-limited signal hardly grow


def symbol_length(grid: OfdmGrid) -> int:
    """Samples of a symbol with its prefix."""
    return grid.fft_size + grid.cp_length


def modulate(grid: OfdmGrid, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
    """``[..., num_symbols, used carriers]`` to ``[..., samples]``."""
    *leading, num_symbols, _ = elements.shape
    bins = scratch("bins", (*leading, num_symbols, grid.fft_size))
    body = fft.ifft(in_bins(grid, elements, bins), norm="ortho", overwrite_x=True)
    samples = np.empty((*leading, num_symbols, symbol_length(grid)), np.complex64)
    samples[..., grid.cp_length :] = body
    samples[..., : grid.cp_length] = body[..., grid.fft_size - grid.cp_length :]
    return samples.reshape(*leading, -1)


def demodulate(
    grid: OfdmGrid, samples: NDArray[np.complex64], first: int, num_symbols: int
) -> NDArray[np.complex64]:
    """``[..., samples]`` to ``[..., num_symbols, used carriers]``.

    first : the time of the first sample, zero or before. Each FFT begins ``-first`` samples early,
        inside the prefix, and the phases are set right.
    """
    length = num_symbols * symbol_length(grid)
    shape = (*samples.shape[:-1], num_symbols, symbol_length(grid))
    windows = samples[..., :length].reshape(shape)[..., grid.cp_length :]
    elements = from_bins(grid, fft.fft(windows, norm="ortho"))
    return elements * shift_phases(grid, first) if first else elements


@lru_cache(maxsize=8)
def shift_phases(grid: OfdmGrid, shift: int) -> NDArray[np.complex64]:
    """What a delay of ``shift`` samples does to the used carriers of a periodic signal."""
    return phasors(-shift / grid.fft_size * grid.used_carriers)


def in_bins(
    grid: OfdmGrid, elements: NDArray[np.complex64], bins: NDArray[np.complex64]
) -> NDArray[np.complex64]:
    """The used carriers at their places in an FFT of at least the grid's size, all else zero."""
    used, below = grid.used_carriers, _num_below(grid)
    size = bins.shape[-1]
    start, middle, end = size, 0, 0
    if below:
        start = size + int(used[0])
        bins[..., start : start + below] = elements[..., :below]
        bins[..., start + below :] = 0
    if below < len(used):
        middle, end = int(used[below]), int(used[-1]) + 1
        bins[..., middle:end] = elements[..., below:]
    bins[..., :middle] = 0
    bins[..., end:start] = 0
    return bins


def empty_bins(elements: NDArray[np.complex64], fft_size: int) -> NDArray[np.complex64]:
    return np.empty((*elements.shape[:-1], fft_size), np.complex64)


def from_bins(grid: OfdmGrid, bins: NDArray[np.complex64]) -> NDArray[np.complex64]:
    """The inverse of :func:`in_bins`."""
    used, below = grid.used_carriers, _num_below(grid)
    elements = np.empty((*bins.shape[:-1], len(used)), np.complex64)
    if below:
        start = bins.shape[-1] + used[0]
        elements[..., :below] = bins[..., start : start + below]
    if below < len(used):
        elements[..., below:] = bins[..., used[below] : used[-1] + 1]
    return elements


def _num_below(grid: OfdmGrid) -> int:
    """How many used carriers lie below frequency zero. They are neighbours, as are the others."""
    return int(np.searchsorted(grid.used_carriers, 0))


def papr(
    grid: OfdmGrid, elements: NDArray[np.complex64], oversampling: int = PAPR_OVERSAMPLING
) -> NDArray[np.float64]:
    """Peak over mean power of each symbol, ``[..., used carriers]`` to ``[...]``.

    The peaks between samples are seen with ``oversampling``; 1 is the Nyquist rate. NaN for an
    empty symbol.
    """
    bins = in_bins(grid, elements, empty_bins(elements, grid.fft_size * oversampling))
    power = power_of(fft.ifft(bins, norm="ortho", overwrite_x=True))
    mean = power.mean(axis=-1)
    return np.divide(power.max(axis=-1), mean, out=np.full(mean.shape, np.nan), where=mean > 0)


def power_of(samples: NDArray[np.complex64]) -> NDArray[np.float32]:
    """|x|^2"""
    power = np.abs(samples)
    return np.square(power, out=power)
