"""Analog amplitude modulation: a real vector on the I and Q of resource elements, and back.

Entries 2n and 2n+1 are the real and the imaginary part of element n, unscaled, so that the energy
of a block is that of its vector. What does not fill the last OFDM symbol is padded with zeros,
which cost no energy. A seeded interleaver then spreads elements and padding over all carriers and
symbols: model updates concentrate their energy in few neighbouring entries, and without it a few
OFDM symbols would take most of the power. In blocks too long for a processor's cache, up to eight
neighbours move together, as a cache line does.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from otafl._base.arrays import ComplexArray, Float32Array
from otafl._base.validation import integer
from phy.grid import OfdmGrid

LONG_BLOCK = 1 << 17  # resource elements, a megabyte


class Packing:
    """Map real vectors ``[..., length]`` to elements ``[..., num_symbols, num_carriers]``.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    length : int
        Entries of a vector.
    seed : int or None
        Seed of the interleaver. None keeps the entries in order: carrier by carrier, symbol by
        symbol.

    Attributes
    ----------
    num_symbols, num_elements : int
        OFDM symbols and resource elements of a block.
    grain : int
        Neighbouring elements that the interleaver moves together.
    num_grains : int
        Grains that hold entries of the vector.
    source : ndarray of int
        Place i of the grid holds grain ``source[i]`` of the vector.
    empty : ndarray of int
        Places beyond the end of the vector, which hold padding.

    Examples
    --------
    >>> packing = Packing(OfdmGrid(), length=5)
    >>> packing.unpack(packing.pack(np.arange(5)))
    array([0., 1., 2., 3., 4.], dtype=float32)
    """

    def __init__(self, grid: OfdmGrid, length: int, seed: int | None = 0) -> None:
        self.grid = grid
        self.length = length
        self.num_symbols = grid.num_symbols(length)
        self.num_elements = self.num_symbols * grid.num_carriers
        self.grain = math.gcd(grid.num_carriers, 8) if self.num_elements > LONG_BLOCK else 1
        self.source = np.arange(self.num_elements // self.grain)
        if seed is not None:
            seed = integer("interleaver_seed", seed, least=0)
            self.source = np.random.Generator(np.random.Philox(seed)).permutation(self.source)
        self.num_grains = -(-length // (2 * self.grain))
        self.empty = np.flatnonzero(self.source >= self.num_grains)
        places = np.empty_like(self.source)
        places[self.source] = np.arange(len(self.source))
        self._places = places[: self.num_grains]

    def grains(self, signals: NDArray) -> ComplexArray:
        """Return ``[..., length]`` real as ``[..., num_grains, grain]``, a view where possible."""
        shape = (*signals.shape[:-1], self.num_grains, self.grain)
        whole = self.length == 2 * self.grain * self.num_grains
        if whole and signals.dtype == np.float32 and signals.flags.c_contiguous:
            return signals.view(np.complex64).reshape(shape)
        grains = np.zeros(shape, np.complex64)
        flat = grains.reshape(*signals.shape[:-1], -1)
        flat.view(np.float32)[..., : self.length] = signals
        return grains

    def pack(self, signals: NDArray) -> ComplexArray:
        """Return ``[..., length]`` real as ``[..., num_symbols, num_carriers]`` complex64."""
        signals = np.asarray(signals)
        # indices beyond the end are clipped; they belong to empty places
        placed = np.take(self.grains(signals), self.source, axis=-2, mode="clip")
        placed[..., self.empty, :] = 0
        return placed.reshape(*signals.shape[:-1], self.num_symbols, self.grid.num_carriers)

    def unpack(self, elements: NDArray) -> Float32Array:
        """Invert :meth:`pack`."""
        leading = elements.shape[:-2]
        grains = elements.reshape(*leading, -1, self.grain).take(self._places, axis=-2)
        return grains.reshape(*leading, -1).view(np.float32)[..., : self.length]

    def per_symbol(self, values: NDArray) -> NDArray:
        """Return ``[..., num_slots, num_carriers]`` as ``[..., num_symbols, num_carriers]``.

        A single slot is a channel that does not change; it is returned as it is, to broadcast.
        """
        if values.shape[-2] == 1:
            return values
        repeated = np.repeat(values, self.grid.symbols_per_slot, axis=-2)
        return repeated[..., : self.num_symbols, :]


@lru_cache(maxsize=8)
def packing_for(grid: OfdmGrid, length: int, seed: int | None) -> Packing:
    """Return the packing of a block from a cache: shuffling costs more than a round."""
    return Packing(grid, length, seed)
