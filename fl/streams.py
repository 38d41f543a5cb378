"""Where randomness comes from: one stream for each purpose in each round.

A stream is a function of (seed, round, purpose) alone. So a resumed run draws what it would have
drawn, and runs that differ in link or algorithm see the same data and the same noise.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is for; a number is never reused for another purpose."""

    INITIAL_MODEL = 1
    MINIBATCHES = 2
    LOCAL_STEPS = 3
    LINK = 4
    DEVICES = 5  # keyed without the round
    CONSTANTS = 6
    PARTITION = 7
    PARTICIPATION = 8
    DOWNLINK = 9
    COMPUTE_TIME = 10  # keyed without the round
    PROJECTION = 11  # keyed by a block of the matrix instead of the round


def stream(seed: int, number: int, purpose: Purpose) -> np.random.Generator:
    """Return the generator for a purpose in round ``number``.

    >>> stream(1, 0, Purpose.LINK).random() == stream(1, 0, Purpose.LINK).random()
    True
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(number, purpose))
    return np.random.Generator(np.random.Philox(sequence))


def client_streams(
    seed: int, number: int, purpose: Purpose, clients: Iterable[int]
) -> list[np.random.Generator]:
    """Return one generator per client for a purpose in round ``number``.

    Each is a function of (seed, round, purpose, client): what a client draws does not depend on who
    else takes part.

    Parameters
    ----------
    seed : int
        Seed of the run.
    number : int
        The round.
    purpose : Purpose
        What the generators are for.
    clients : iterable of int
        Global indices.

    Examples
    --------
    >>> one, _ = client_streams(1, 0, Purpose.MINIBATCHES, [5, 7])
    >>> _, other = client_streams(1, 0, Purpose.MINIBATCHES, [3, 5])
    >>> one.random() == other.random()
    True
    """
    key = int(stream(seed, number, purpose).integers(2**63))
    return [np.random.Generator(np.random.Philox(key=[key, client])) for client in clients]
