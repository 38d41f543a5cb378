"""Which samples a minibatch contains.

With replacement, every sample of a minibatch is uniform over the client's samples, so that its
gradient is unbiased and independent of the others (Assumption 2 of the paper). Without replacement,
a client goes through all its samples in random order before it draws a new order; a minibatch that
begins at the end of one order ends at the beginning of the next, so that all have the same size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Rngs = np.random.Generator | Sequence[np.random.Generator]
"""One generator for all clients, or one per client."""

DRAWN_AT_ONCE = 16  # minibatches


def draw_places(
    sizes: NDArray[np.int64], batch_size: int, replacement: bool, rngs: Rngs
) -> Iterator[NDArray[np.int64]]:
    """Yield places [n, m, B] of samples in the shards of clients, n minibatches at a time.

    Parameters
    ----------
    sizes : ndarray of int64, [m]
        Number of samples of each client.
    batch_size : int
        B, samples per minibatch.
    replacement : bool
        Whether samples are drawn with replacement.
    rngs : numpy.random.Generator, or one per client
        Source of the draws; without replacement, one per client.
    """
    if replacement:
        draw = _uniform(rngs, len(sizes), batch_size)
        while True:
            yield (draw() * sizes[:, None]).astype(np.int64)
    assert not isinstance(rngs, np.random.Generator)
    orders = [_Order(int(size), rng) for size, rng in zip(sizes, rngs, strict=True)]
    shape = (DRAWN_AT_ONCE, batch_size)
    while True:
        taken = [order.take(DRAWN_AT_ONCE * batch_size).reshape(shape) for order in orders]
        yield np.stack(taken, axis=1)


def _uniform(rngs: Rngs, num_clients: int, batch_size: int) -> Callable[[], NDArray[np.float64]]:
    """Return a function that draws uniform numbers [n, m, B]."""
    if isinstance(rngs, np.random.Generator):
        shape = (DRAWN_AT_ONCE, num_clients, batch_size)
        return lambda: rngs.random(shape)
    return lambda: np.stack([rng.random((DRAWN_AT_ONCE, batch_size)) for rng in rngs], axis=1)


class _Order:
    """The places 0 to size - 1 in random order, repeatedly."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size, self._rng = size, rng
        self._left = np.empty(0, np.int64)

    def take(self, count: int) -> NDArray[np.int64]:
        """Return the next ``count`` places."""
        pieces, have = [self._left], len(self._left)
        while have < count:
            pieces.append(self._rng.permutation(self._size))
            have += self._size
        whole = np.concatenate(pieces)
        self._left = whole[count:]
        return whole[:count]
