"""Where randomness comes from: one stream for each purpose in each round.

A stream is a function of (seed, round, purpose) alone, so a run that is continued draws what it
would have drawn, and runs that differ in link or algorithm see the same data and the same noise.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is for; numbers are never used again for something else."""

    INITIAL_MODEL = 1
    MINIBATCHES = 2
    CAPABILITY = 3
    LINK = 4
    DEVICES = 5  # keyed without the round
    CONSTANTS = 6
    PARTITION = 7


def stream(seed: int, number: int, purpose: Purpose) -> np.random.Generator:
    """The stream of round ``number``; the same call gives the same numbers."""
    sequence = np.random.SeedSequence(seed, spawn_key=(number, purpose))
    return np.random.Generator(np.random.Philox(sequence))
