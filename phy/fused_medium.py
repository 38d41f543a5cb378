"""The fused medium: with a prefix longer than the channel, a round is a weighted sum.

    received[l, k] = sum_i arrival_i[k] s_i[l, k],     energy_i[l] = sum_k cost_i[k] |s_i[l, k]|^2

One pass over the clients, in pieces that fit a processor's cache: groups of clients where a block
is short, tiles of a block where it is long. Beyond the channels themselves, memory grows with the
length of a vector, not with the number of clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otafl._base.arrays import ComplexArray, Float32Array, IntArray
from otafl._base.buffers import buffer
from phy.packing import Packing
from phy.power import Precoding

PIECE = 1 << 16  # resource elements worked on at once, half a megabyte


class Tile(NamedTuple):
    """Consecutive symbols of a block, in whole slots if the channel moves.

    Attributes
    ----------
    symbols : slice
        Which symbols of the block.
    slots : slice
        Which slots of the channel.
    shape : (int, int, int)
        (slots, symbols per slot, 2 num_carriers); the block's last slot may reach beyond it.
    source, empty : ndarray of int
        As in :class:`~phy.packing.Packing`, for these places.
    """

    symbols: slice
    slots: slice
    shape: tuple[int, int, int]
    source: IntArray
    empty: IntArray


@lru_cache(maxsize=8)
def tiles_of(packing: Packing, moving: bool) -> list[Tile]:
    """Return the tiles of a block, from a cache."""
    num_carriers, num_symbols = packing.grid.num_carriers, packing.num_symbols
    slot_length = packing.grid.symbols_per_slot if moving else 1
    # grains that fill up the last slot: beyond the end of any vector
    filling = len(packing.source) + np.arange(slot_length * num_carriers)
    source = np.concatenate([packing.source, filling]) if moving else packing.source
    step = slot_length * max(1, PIECE // (slot_length * num_carriers))
    tiles = []
    for start in range(0, num_symbols, step):
        stop = min(start + step, num_symbols)
        num_slots = -(-(stop - start) // slot_length)
        first, last = (
            symbol * num_carriers // packing.grain
            for symbol in (start, start + num_slots * slot_length)
        )
        places = source[first:last]
        slots = slice(start // slot_length, start // slot_length + num_slots)
        lengths = (num_slots, slot_length) if moving else (1, stop - start)
        tiles.append(
            Tile(
                symbols=slice(start, stop),
                slots=slots if moving else slice(0, 1),
                shape=(*lengths, 2 * num_carriers),
                source=places,
                empty=np.flatnonzero(places >= packing.num_grains),
            )
        )
    return tiles


class FusedMedium:
    """Propagation from all clients to the server, for the channels of one block.

    Parameters
    ----------
    packing : Packing
        Where the entries of a vector lie on the grid.
    precoding : Precoding
        With one slot for a static channel, or with every slot of the block.
    """

    def __init__(self, packing: Packing, precoding: Precoding) -> None:
        self.packing = packing
        self.precoding = precoding
        num_clients, num_slots, _ = precoding.cost.shape
        self.tiles = tiles_of(packing, moving=num_slots > 1)
        self.group_size = max(1, min(num_clients, PIECE // packing.num_elements))

    def energy(self, signals: NDArray) -> Float32Array:
        """Return what each client spends at unit gain, [num_clients, num_symbols]."""
        return self._pass(signals, ())

    def superpose(self, signals: NDArray) -> tuple[ComplexArray, Float32Array]:
        """Return what arrives at unit gain, [num_symbols, num_carriers], and what it costs."""
        packing, arrival = self.packing, self.precoding.arrival
        parts = [arrival.real, arrival.imag] if np.iscomplexobj(arrival) else [arrival]
        shape = (packing.num_symbols, 2 * packing.grid.num_carriers)
        sums = [(np.empty(shape, np.float32), part) for part in parts]
        energy = self._pass(signals, sums)
        received = sums[0][0].view(np.complex64)
        if len(sums) == 2:
            received += 1j * sums[1][0].view(np.complex64)
        return received, energy

    def _pass(self, signals: NDArray, sums: Sequence[tuple[Float32Array, NDArray]]) -> Float32Array:
        """Return what each client spends; fill each of ``sums`` with the factors beside it."""
        num_clients = len(signals)
        cost = self.precoding.cost
        energy = np.empty((num_clients, self.packing.num_symbols), np.float32)
        for start in range(0, num_clients, self.group_size):
            group = slice(start, min(start + self.group_size, num_clients))
            grains = self.packing.grains(signals[group])
            for symbols, slots, shape, source, empty in self.tiles:
                placed = buffer("placed", (len(grains), len(source), self.packing.grain))
                # indices beyond the end are clipped; they belong to empty places
                np.take(grains, source, axis=1, out=placed, mode="clip")
                placed[:, empty] = 0
                parts = placed.view(np.float32).reshape(-1, *shape)
                costs = _twice(cost[group, slots])
                used = symbols.stop - symbols.start
                for total, factor in sums:
                    factors = _twice(factor[group, slots])
                    part = np.einsum("istk,isk->stk", parts, factors).reshape(-1, shape[2])[:used]
                    if start == 0:
                        total[symbols] = part
                    else:
                        total[symbols] += part
                np.square(parts, out=parts)
                spent = parts @ costs[..., None]
                energy[group, symbols] = spent.reshape(len(spent), -1)[:, :used]
        return energy


def _twice(factors: NDArray) -> Float32Array:
    """Repeat each factor for I and for Q: products of reals are faster than complex ones."""
    both = np.empty((*factors.shape, 2), np.float32)
    both[..., 0] = factors
    both[..., 1] = factors
    return both.reshape(*factors.shape[:-1], -1)
