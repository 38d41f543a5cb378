"""Explicit randomness: fast complex noise, and streams that belong to a device."""

from __future__ import annotations

import copy

import numpy as np

from otafl._base.arrays import ComplexArray, Rng

CACHED = 1 << 15  # samples per pass, so that temporaries stay in the processor's cache


def device_key(device_rng: Rng | None, rng: Rng) -> int:
    """Return the number that identifies a population of devices.

    Parameters
    ----------
    device_rng : numpy.random.Generator or None
        Identifies the population. It is not advanced, so it gives the same one in every round.
    rng : numpy.random.Generator
        The round's own generator; without ``device_rng`` the population is new and drawn from it.
    """
    if device_rng is None:
        return int(rng.integers(2**63))
    return int(np.random.Generator(copy.deepcopy(device_rng.bit_generator)).integers(2**63))


def device_stream(key: int, client: int) -> Rng:
    """Return the generator of one device: a function of population and client alone."""
    return np.random.Generator(np.random.Philox(key=[key, client]))


def complex_normal(rng: Rng, shape: tuple[int, ...], std: float = 1.0) -> ComplexArray:
    """Draw circularly symmetric complex normals CN(0, std^2).

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    shape : tuple of int
        Shape of the result.
    std : float
        Root of the total variance E|n|^2, half of which is in the real part.

    Returns
    -------
    ndarray of complex64, shape ``shape``

    Notes
    -----
    std sqrt(-ln u) e^{j 2 pi v} with u and v uniform (G. E. P. Box and M. E. Muller, "A note on
    the generation of random normal deviates", Ann. Math. Stat. 29(2), 1958). It vectorises, and
    takes half the time of NumPy's normals. With 24 bits of u the magnitude ends at 4.08 std; one
    sample in 1.7e7 should lie beyond that.
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
