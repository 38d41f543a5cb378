"""Analog amplitude modulation: a real vector on the I and Q of resource elements, and back.

Entries 2n and 2n+1 are the real and the imaginary part of element n, unscaled, so that the energy
of a block is that of its vector. What does not fill the last OFDM symbol is padded with zeros,
which cost no energy. A seeded interleaver then spreads elements and padding over all carriers and
symbols: model updates concentrate their energy in few neighbouring entries, and without it a few
OFDM symbols would take most of the power.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from phy.checks import integer
from phy.grid import OfdmGrid


class Packing:
    """Maps real vectors ``[..., length]`` to elements ``[..., num_symbols, num_carriers]``.

    ``seed = None`` keeps the entries in their order: carrier by carrier, symbol by symbol.

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
        order = np.arange(self.num_elements)
        if seed is not None:
            seed = integer("interleaver_seed", seed, least=0)
            order = np.random.Generator(np.random.Philox(seed)).permutation(order)
        num_pairs = -(-length // 2)
        self.source = order
        """[num_elements] which pair of entries goes to each place; beyond the vector's, padding"""
        self.empty = np.flatnonzero(order >= num_pairs)
        """places that hold padding"""
        places = np.empty_like(order)
        places[order] = np.arange(self.num_elements)
        self._places = places[:num_pairs]

    def pairs(self, signals: NDArray) -> NDArray[np.complex64]:
        """``[..., length]`` real to ``[..., (length + 1) // 2]`` complex64; a view if it can be."""
        if signals.dtype == np.float32 and self.length % 2 == 0 and signals.flags.c_contiguous:
            return signals.view(np.complex64)
        pairs = np.zeros((*signals.shape[:-1], len(self._places)), np.complex64)
        pairs.view(np.float32)[..., : self.length] = signals
        return pairs

    def pack(self, signals: NDArray) -> NDArray[np.complex64]:
        """``[..., length]`` real to ``[..., num_symbols, num_carriers]`` complex64."""
        pairs = self.pairs(np.asarray(signals))
        elements = np.take(pairs, self.source, axis=-1, mode="clip")
        elements[..., self.empty] = 0
        return elements.reshape(*elements.shape[:-1], self.num_symbols, self.grid.num_carriers)

    def unpack(self, elements: NDArray) -> NDArray[np.float32]:
        """The inverse of :meth:`pack`."""
        elements = np.asarray(elements, np.complex64)
        flat = elements.reshape(*elements.shape[:-2], self.num_elements)
        return flat.take(self._places, axis=-1).view(np.float32)[..., : self.length]

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
