"""The fused uplink: with a prefix longer than the channel, a round is a weighted sum.

    received[l, k] = sum_i weight_i[k] s_i[l, k],      energy_i[l] = sum_k cost_i[k] |s_i[l, k]|^2

One pass over the clients, in pieces that fit a processor's cache: groups of clients where a block
is short, tiles of a block where it is long. Beyond the channels themselves, memory grows with the
length of a vector, not with the number of clients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phy.packing import Packing
from phy.power import Precoding

PIECE = 1 << 16  # resource elements worked on at once, half a megabyte


class Tile(NamedTuple):
    """Consecutive symbols of a block, in whole slots if the channel moves.

    symbols : which, of the block's
    slots : which, of the channel's
    shape : (slots, symbols of each, 2 num_carriers); the block's last slot may reach beyond it
    source, empty : as :class:`~phy.packing.Packing` has them, of these places
    """

    symbols: slice
    slots: slice
    shape: tuple[int, int, int]
    source: NDArray[np.int64]
    empty: NDArray[np.int64]


@lru_cache(maxsize=8)
def tiles_of(packing: Packing, moving: bool) -> list[Tile]:
    """The tiles of a block, remembered as its packing is."""
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


class FusedUplink:
    """All clients' way to the server for the channels of one block.

    ``precodings``, one a trial, have one slot for a static channel, or every slot of the block.
    """

    def __init__(self, packing: Packing, precodings: Sequence[Precoding]) -> None:
        self.packing = packing
        self.precodings = precodings
        num_clients, num_slots, _ = precodings[0].cost.shape
        self.tiles = tiles_of(packing, moving=num_slots > 1)
        self.group_size = max(1, min(num_clients, PIECE // packing.num_elements))
        largest = max(len(tile.source) for tile in self.tiles)
        self._room = np.empty(self.group_size * largest * packing.grain, np.complex64)

    def energy(self, trial: int, signals: NDArray) -> NDArray[np.float32]:
        """``signals [num_clients, length]`` to ``[num_clients, num_symbols]`` at unit gain."""
        return self._pass(trial, signals, ())

    def superpose(
        self, trial: int, signals: NDArray
    ) -> tuple[NDArray[np.complex64], NDArray[np.float32]]:
        """What arrives, ``[num_symbols, num_carriers]``, and what it costs, as :meth:`energy`."""
        packing = self.packing
        weight = self.precodings[trial].weight
        weights = [weight.real, weight.imag] if np.iscomplexobj(weight) else [weight]
        shape = (packing.num_symbols, 2 * packing.grid.num_carriers)
        sums = [(np.empty(shape, np.float32), part) for part in weights]
        energy = self._pass(trial, signals, sums)
        received = sums[0][0].view(np.complex64)
        if len(sums) == 2:
            received += 1j * sums[1][0].view(np.complex64)
        return received, energy

    def _pass(
        self, trial: int, signals: NDArray, sums: Sequence[tuple[NDArray[np.float32], NDArray]]
    ) -> NDArray[np.float32]:
        """What each client spends. Each of ``sums`` is filled, with the weights beside it."""
        num_clients = len(signals)
        cost = self.precodings[trial].cost
        energy = np.empty((num_clients, self.packing.num_symbols), np.float32)
        for start in range(0, num_clients, self.group_size):
            group = slice(start, min(start + self.group_size, num_clients))
            grains = self.packing.grains(signals[group])
            for symbols, slots, shape, source, empty in self.tiles:
                into = (len(grains), len(source), self.packing.grain)
                placed = self._room[: math.prod(into)].reshape(into)
                # clipped indices are those of empty places
                np.take(grains, source, axis=1, out=placed, mode="clip")
                placed[:, empty] = 0
                parts = placed.view(np.float32).reshape(-1, *shape)
                costs = _twice(cost[group, slots])
                used = symbols.stop - symbols.start
                for total, weight in sums:
                    # known perfectly, a channel lets all through that is sent at all
                    exact = weight.dtype == bool
                    factors = (costs > 0) if exact else _twice(weight[group, slots])
                    factors = factors.astype(np.float32, copy=False)
                    part = np.einsum("istk,isk->stk", parts, factors).reshape(-1, shape[2])[:used]
                    if start == 0:
                        total[symbols] = part
                    else:
                        total[symbols] += part
                np.square(parts, out=parts)
                spent = parts @ costs[..., None]
                energy[group, symbols] = spent.reshape(len(spent), -1)[:, :used]
        return energy


def _twice(factors: NDArray) -> NDArray[np.float32]:
    """Each factor twice, for I and for Q: products of reals are faster than complex ones."""
    both = np.empty((*factors.shape, 2), np.float32)
    both[..., 0] = factors
    both[..., 1] = factors
    return both.reshape(*factors.shape[:-1], -1)
