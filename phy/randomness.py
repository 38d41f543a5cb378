"""Explicit randomness: trials that draw alone what they draw in a batch, devices that persist."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

Rng = np.random.Generator | Sequence[np.random.Generator]
"""One generator, or one for each trial, which adds a leading trial axis to every array."""


def as_trials(field: str, rng: Rng) -> tuple[list[np.random.Generator], bool]:
    """The generators of all trials, and whether there is a trial axis."""
    batched = not isinstance(rng, np.random.Generator)
    generators = [rng] if isinstance(rng, np.random.Generator) else rng
    if (
        not isinstance(generators, Sequence)
        or not generators
        or not all(isinstance(generator, np.random.Generator) for generator in generators)
    ):
        raise ValueError(
            f"{field} = {rng!r} is not allowed: give a numpy.random.Generator, or one a trial"
        )
    return list(generators), batched


def device_key(device_rng: np.random.Generator | None, rng: np.random.Generator) -> int:
    """The number that names a population of devices.

    ``device_rng`` is left as it was, so that it names the same ones in every round. Without it
    they are new, drawn from the round's ``rng``.
    """
    if device_rng is None:
        return int(rng.integers(2**63))
    return int(np.random.Generator(copy.deepcopy(device_rng.bit_generator)).integers(2**63))


def device_stream(key: int, client: int) -> np.random.Generator:
    """What belongs to one device for the whole run: a function of population and client alone."""
    return np.random.Generator(np.random.Philox(key=[key, client]))


def complex_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """CN(0, 1): unit total variance, so 1/2 in each of the real and the imaginary part."""
    pairs = rng.standard_normal((*shape, 2), dtype=np.float32)
    pairs *= np.float32(np.sqrt(0.5))
    return pairs.view(np.complex64)[..., 0]
