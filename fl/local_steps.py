"""How many local steps clients can take: the heterogeneity of their computers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, integer

Steps = int | Sequence[int] | NDArray[np.integer] | Callable[[int, int, Rng], ArrayLike]
"""A scalar, one value per client, or a function of (round, number of clients, rng) for these."""


@options
@dataclass(frozen=True)
class UniformSteps:
    """Numbers of steps drawn uniformly from {least, ..., most}.

    They are independent over clients and rounds.

    Parameters
    ----------
    least, most : int
        Smallest and largest number of local steps, at least 1.

    Examples
    --------
    >>> UniformSteps(1, 3)(0, 5, np.random.default_rng(1))
    array([2, 2, 3, 3, 1])
    """

    least: int
    most: int

    def __post_init__(self) -> None:
        integer("least", self.least, least=1)
        integer("most", self.most, least=1)
        if self.most < self.least:
            raise OptionError("most", f"at least {self.least}, the value of least", self.most)

    def __call__(self, number: int, num_clients: int, rng: Rng) -> NDArray[np.int64]:
        """Return the steps [num_clients] of round ``number``, drawn from ``rng``."""
        return rng.integers(self.least, self.most, num_clients, endpoint=True)


def max_steps(steps: Steps, number: int, num_clients: int, rng: Rng) -> NDArray[np.int64]:
    """Return the largest number of local steps of each client [num_clients] in a round.

    Parameters
    ----------
    steps : int, sequence of int, or callable
        A scalar, one value per client, or a function of (number, num_clients, rng) for these.
    number : int
        The round, from 0.
    num_clients : int
        Number of clients.
    rng : numpy.random.Generator
        Handed to ``steps`` if it is a function.

    Raises
    ------
    ValueError
        If that is not a whole number >= 1, or one per client.
    """
    given = np.asarray(steps(number, num_clients, rng) if callable(steps) else steps)
    if given.dtype.kind not in "iu" or given.shape not in ((), (num_clients,)) or (given < 1).any():
        must = f"a whole number >= 1, or one for each of the {num_clients} clients"
        hint = "; to draw them, give UniformSteps(least, most)" * (given.shape == (2,))
        raise OptionError(f"steps in round {number}", must, given.tolist(), hint)
    return np.full(num_clients, given, np.int64)
