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

from phy.checks import integer
from phy.grid import OfdmGrid

LONG_BLOCK = 1 << 17  # resource elements, a megabyte


class Packing:
    """Maps real vectors ``[..., length]`` to elements ``[..., num_symbols, num_carriers]``.

    ``seed = None`` keeps the entries in their order: carrier by carrier, symbol by symbol.

    To be read: the grid's places are filled with grains of ``grain`` elements, place i with grain
    ``source[i]`` of the vector; ``empty`` are the places beyond its end, which hold padding.

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
        self.num_slots = grid.num_slots(length)
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

    def grains(self, signals: NDArray) -> NDArray[np.complex64]:
        """``[..., length]`` real to ``[..., num_grains, grain]`` complex64; a view if it can be."""
        shape = (*signals.shape[:-1], self.num_grains, self.grain)
        whole = self.length == 2 * self.grain * self.num_grains
        if whole and signals.dtype == np.float32 and signals.flags.c_contiguous:
            return signals.view(np.complex64).reshape(shape)
        grains = np.zeros(shape, np.complex64)
        flat = grains.reshape(*signals.shape[:-1], -1)
        flat.view(np.float32)[..., : self.length] = signals
        return grains

    def pack(self, signals: NDArray) -> NDArray[np.complex64]:
        """``[..., length]`` real to ``[..., num_symbols, num_carriers]`` complex64."""
        signals = np.asarray(signals)
        # clipped indices are those of empty places
        placed = np.take(self.grains(signals), self.source, axis=-2, mode="clip")
        placed[..., self.empty, :] = 0
        return placed.reshape(*signals.shape[:-1], self.num_symbols, self.grid.num_carriers)

    def unpack(self, elements: NDArray) -> NDArray[np.float32]:
        """The inverse of :meth:`pack`."""
        leading = elements.shape[:-2]
        grains = elements.reshape(*leading, -1, self.grain).take(self._places, axis=-2)
        return grains.reshape(*leading, -1).view(np.float32)[..., : self.length]

    def per_symbol(self, values: NDArray) -> NDArray:
        """``[..., num_slots, num_carriers]`` to ``[..., num_symbols, num_carriers]``.

        One slot is a channel that does not change: it stays one, to broadcast.
        """
        if values.shape[-2] == 1:
            return values
        repeated = np.repeat(values, self.grid.symbols_per_slot, axis=-2)
        return repeated[..., : self.num_symbols, :]


@lru_cache(maxsize=8)
def packing_for(grid: OfdmGrid, length: int, seed: int | None) -> Packing:
    """The packing of a block, remembered: shuffling costs more than a round."""
    return Packing(grid, length, seed)
