"""How many local steps clients can do: the heterogeneity of their computers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.checks import Count, checked

Steps = int | Sequence[int] | Callable[[int, int, np.random.Generator], ArrayLike]
"""One number, one a client, or a function of (round, number of clients, rng) that gives those."""


@dataclass(frozen=True)
class UniformSteps:
    """Uniform on {least, ..., most}, independent over clients and rounds."""

    least: int
    most: int

    def __post_init__(self) -> None:
        checked("least", self.least, Count)
        checked("most", self.most, Count)
        if self.most < self.least:
            raise ValueError(f"most = {self.most} is not allowed: least is {self.least}")

    def __call__(
        self, number: int, num_clients: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return rng.integers(self.least, self.most, num_clients, endpoint=True)


def capability(
    steps: Steps, number: int, num_clients: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """[m], the most steps of each client in round ``number``."""
    given = np.asarray(steps(number, num_clients, rng) if callable(steps) else steps)
    if given.dtype.kind not in "iu" or given.shape not in ((), (num_clients,)) or (given < 1).any():
        raise ValueError(
            f"steps = {given!r} in round {number} is not allowed: give a whole number >= 1, or one "
            f"for each of the {num_clients} clients"
        )
    return np.full(num_clients, given, np.int64)
