"""Explicit randomness: trials that draw alone what they draw in a batch, devices that persist."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CACHED = 1 << 15  # samples worked on at once

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
            f"{field} = {rng!r} is not allowed: give a numpy.random.Generator, or a list of one a "
            "trial"
        )
    if len({id(generator) for generator in generators}) != len(generators):
        raise ValueError(f"{field} has the same generator twice: give each trial its own")
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


def complex_normal(
    rng: np.random.Generator, shape: tuple[int, ...], std: float = 1.0
) -> NDArray[np.complex64]:
    """CN(0, std^2): total variance std^2, half of it in each of the real and the imaginary part.

    By G. E. P. Box and M. E. Muller (1958): std sqrt(-ln u) e^{j 2 pi v} with u, v uniform. It
    vectorises, and so takes half the time of NumPy's normals. With 24 bits of u the magnitude ends
    at 4.08 std, beyond which one sample in 1.7e7 should fall.
    """
    normals = np.empty(shape, np.complex64)
    flat = normals.reshape(-1)
    for start in range(0, len(flat), CACHED):
        part = flat[start : start + CACHED]
        radius, angle = rng.random((2, len(part)), dtype=np.float32)
        np.subtract(1, radius, out=radius)  # in (0, 1]
        np.log(radius, out=radius)
        np.negative(radius, out=radius)
        np.sqrt(radius, out=radius)
        radius *= np.float32(std)
        angle *= np.float32(2 * np.pi)
        np.multiply(radius, np.cos(angle), out=part.real)
        np.multiply(radius, np.sin(angle), out=part.imag)
    return normals
