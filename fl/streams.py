"""Where randomness comes from: one stream for each purpose in each round.

A stream is a function of (seed, round, purpose) alone. So a resumed run draws what it would have
drawn, and runs that differ in link or algorithm see the same data and the same noise.
"""

from __future__ import annotations

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


def stream(seed: int, number: int, purpose: Purpose) -> np.random.Generator:
    """Return the generator for a purpose in round ``number``.

    >>> stream(1, 0, Purpose.LINK).random() == stream(1, 0, Purpose.LINK).random()
    True
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(number, purpose))
    return np.random.Generator(np.random.Philox(sequence))
