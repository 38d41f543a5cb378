r"""Cyclic-prefix OFDM in the time domain, by pocketfft.

Symbol l of a slot has the samples, n = -cp_length ... fft_size - 1,

    x[l, n] = 1/sqrt(N) sum_k X[l, k] exp(j 2 pi k n / N)

The transform is unitary, so a symbol's energy without its prefix is that of its elements, and noise
of variance N0 per sample is noise of variance N0 per element. Samples are counted from the
beginning of a slot's first prefix; before and after a slot there is silence.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import fft

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray
from otafl._base.buffers import buffer
from phy.grid import OfdmGrid
from phy.phasors import phasors

PAPR_OVERSAMPLING = 4  # beyond which the peaks of a band-limited signal hardly grow


def modulate(grid: OfdmGrid, elements: ComplexArray) -> ComplexArray:
    """Return the samples of ``[..., num_symbols, used carriers]``, shape ``[..., samples]``."""
    *leading, num_symbols, _ = elements.shape
    bins = buffer("bins", (*leading, num_symbols, grid.fft_size))
    body = fft.ifft(to_bins(grid, elements, bins), norm="ortho", overwrite_x=True)
    samples = np.empty((*leading, num_symbols, grid.symbol_length), np.complex64)
    samples[..., grid.cp_length :] = body
    samples[..., : grid.cp_length] = body[..., grid.fft_size - grid.cp_length :]
    return samples.reshape(*leading, -1)


def demodulate(grid: OfdmGrid, samples: ComplexArray, first: int, num_symbols: int) -> ComplexArray:
    """Return the elements ``[..., num_symbols, used carriers]`` of ``[..., samples]``.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    samples : ndarray of complex64, shape [..., n]
        What was received.
    first : int
        The time of the first sample, zero or before. Each FFT then begins ``-first`` samples
        early, inside the prefix, and the phases are corrected for it.
    num_symbols : int
        Symbols to demodulate.
    """
    length = num_symbols * grid.symbol_length
    shape = (*samples.shape[:-1], num_symbols, grid.symbol_length)
    windows = samples[..., :length].reshape(shape)[..., grid.cp_length :]
    elements = from_bins(grid, fft.fft(windows, norm="ortho"))
    return elements * shift_phases(grid, first) if first else elements


@lru_cache(maxsize=8)
def shift_phases(grid: OfdmGrid, shift: int) -> ComplexArray:
    """Return what a delay of ``shift`` samples does to the used carriers of a periodic signal."""
    return phasors(-shift / grid.fft_size * grid.used_carriers)


def to_bins(grid: OfdmGrid, elements: ComplexArray, bins: ComplexArray) -> ComplexArray:
    """Put the used carriers into the bins of an FFT of at least the grid's size; zero the rest."""
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


def empty_bins(elements: ComplexArray, fft_size: int) -> ComplexArray:
    """Return uninitialised bins for :func:`to_bins`."""
    return np.empty((*elements.shape[:-1], fft_size), np.complex64)


def from_bins(grid: OfdmGrid, bins: ComplexArray) -> ComplexArray:
    """Invert :func:`to_bins`."""
    used, below = grid.used_carriers, _num_below(grid)
    elements = np.empty((*bins.shape[:-1], len(used)), np.complex64)
    if below:
        start = bins.shape[-1] + used[0]
        elements[..., :below] = bins[..., start : start + below]
    if below < len(used):
        elements[..., below:] = bins[..., used[below] : used[-1] + 1]
    return elements


def _num_below(grid: OfdmGrid) -> int:
    """Return how many used carriers, all of them neighbours, lie below frequency zero."""
    return int(np.searchsorted(grid.used_carriers, 0))


def papr(
    grid: OfdmGrid, elements: ComplexArray, oversampling: int = PAPR_OVERSAMPLING
) -> FloatArray:
    """Return the peak-to-average power ratio of each symbol, ``[..., used carriers]`` to ``[...]``.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    elements : ndarray of complex64, shape [..., used carriers]
        Symbols in the frequency domain.
    oversampling : int
        Shows the peaks between samples; 1 is the Nyquist rate.

    Returns
    -------
    ndarray of float, shape [...]
        Linear; NaN for an empty symbol.
    """
    bins = to_bins(grid, elements, empty_bins(elements, grid.fft_size * oversampling))
    power = squared_magnitude(fft.ifft(bins, norm="ortho", overwrite_x=True))
    mean = power.mean(axis=-1)
    return np.divide(power.max(axis=-1), mean, out=np.full(mean.shape, np.nan), where=mean > 0)


def squared_magnitude(samples: ComplexArray) -> Float32Array:
    """Return |x|^2."""
    power = np.abs(samples)
    return np.square(power, out=power)
