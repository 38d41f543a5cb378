"""The fused uplink: with a prefix longer than the channel, a round is a weighted sum.

    received[l, k] = sum_i weight_i[k] s_i[l, k],      energy_i[l] = sum_k cost_i[k] |s_i[l, k]|^2

One pass over the clients, in groups that fit a processor's cache: memory grows with the length of
a vector, not with the number of clients.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phy.packing import Packing
from phy.power import Precoding

GROUP_ELEMENTS = 1 << 16  # resource elements worked on at once, half a megabyte


class FusedUplink:
    """All clients' way to the server for the channels of one block.

    ``precodings``, one a trial, have one slot for a static channel, or every slot of the block.
    """

    def __init__(self, packing: Packing, precodings: Sequence[Precoding]) -> None:
        self.packing = packing
        self.precodings = precodings
        num_clients, self.num_slots, num_carriers = precodings[0].cost.shape
        self.slot_length = packing.num_symbols
        self.source, self.empty = packing.source, packing.empty
        if self.num_slots > 1:  # the last slot is filled up with symbols that carry nothing
            self.slot_length = packing.grid.symbols_per_slot
            places = np.arange(self.num_slots * self.slot_length * num_carriers)
            filling = places[packing.num_elements :]
            self.source = np.concatenate([packing.source, filling])
            self.empty = np.concatenate([packing.empty, filling])
        self.group_size = max(1, min(num_clients, GROUP_ELEMENTS // len(self.source)))
        self._placed = np.empty((self.group_size, len(self.source)), np.complex64)

    def energy(self, trial: int, signals: NDArray) -> NDArray[np.float64]:
        """``signals [num_clients, length]`` to ``[num_clients, num_symbols]`` at unit gain."""
        return self._pass(trial, signals, ())

    def superpose(
        self, trial: int, signals: NDArray
    ) -> tuple[NDArray[np.complex64], NDArray[np.float64]]:
        """What arrives, ``[num_symbols, num_carriers]``, and what it costs, as :meth:`energy`."""
        num_carriers = self.packing.grid.num_carriers
        weight = self.precodings[trial].weight
        weights = [weight.real, weight.imag] if np.iscomplexobj(weight) else [weight]
        shape = (self.num_slots, self.slot_length, 2 * num_carriers)
        sums = [(np.zeros(shape, np.float32), part) for part in weights]
        energy = self._pass(trial, signals, sums)
        received = sums[0][0].view(np.complex64)
        if len(sums) == 2:
            received += 1j * sums[1][0].view(np.complex64)
        return received.reshape(-1, num_carriers)[: self.packing.num_symbols], energy

    def _pass(
        self, trial: int, signals: NDArray, sums: Sequence[tuple[NDArray[np.float32], NDArray]]
    ) -> NDArray[np.float64]:
        """What each client spends; its part is added to each sum, with the weights beside it."""
        num_clients, num_symbols = len(signals), self.packing.num_symbols
        cost = self.precodings[trial].cost
        energy = np.empty((num_clients, num_symbols))
        for start in range(0, num_clients, self.group_size):
            group = slice(start, min(start + self.group_size, num_clients))
            count = group.stop - start
            placed = self._placed[:count]
            pairs = self.packing.pairs(signals[group])
            # clipped indices are those of padding, made zero after
            np.take(pairs, self.source, axis=1, out=placed, mode="clip")
            placed[:, self.empty] = 0
            parts = placed.view(np.float32).reshape(count, self.num_slots, self.slot_length, -1)
            costs = _twice(cost[group])
            for total, weight in sums:
                # known perfectly, a channel lets all through that is sent at all
                exact = weight.dtype == bool
                factors = (costs > 0).astype(np.float32) if exact else _twice(weight[group])
                np.add(total, np.einsum("istk,isk->stk", parts, factors), out=total)
            np.square(parts, out=parts)
            spent = parts @ costs[..., None]
            energy[group] = spent.reshape(count, -1)[:, :num_symbols]
        return energy


def _twice(factors: NDArray) -> NDArray[np.float32]:
    """Each factor twice, for I and for Q: products of reals are faster than complex ones."""
    both = np.empty((*factors.shape, 2), np.float32)
    both[..., 0] = factors
    both[..., 1] = factors
    return both.reshape(*factors.shape[:-1], -1)
