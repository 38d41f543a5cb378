"""How many local steps clients can take: the heterogeneity of their computers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, integer, number


@options
@dataclass(frozen=True)
class Epochs:
    """Local steps given as passes over a client's samples.

    Parameters
    ----------
    epochs : float
        Number of passes > 0.

    Notes
    -----
    A client with n samples and minibatches of B takes ceil(epochs n / B) steps, and with all
    samples in every step ceil(epochs).

    Examples
    --------
    >>> Epochs(1).steps(np.array([6000, 10]), batch_size=64)
    array([94,  1])
    """

    epochs: float

    def __post_init__(self) -> None:
        number("epochs", self.epochs, above=0)

    def steps(self, sizes: NDArray[np.int64], batch_size: int | None) -> NDArray[np.int64]:
        """Return the steps [m] of clients with these numbers of samples [m]."""
        passes = np.ones(len(sizes)) if batch_size is None else sizes / batch_size
        return np.ceil(np.round(self.epochs * passes, 9)).astype(np.int64)


Steps = int | Sequence[int] | NDArray[np.integer] | Epochs | Callable[[int, int, Rng], ArrayLike]
"""A scalar, one value per device, :class:`Epochs`, or a function of (round, clients, rng)."""


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

    def __call__(self, t: int, num_clients: int, rng: Rng) -> NDArray[np.int64]:
        """Return the steps [num_clients] of round ``t``, drawn from ``rng``."""
        return rng.integers(self.least, self.most, num_clients, endpoint=True)


def max_steps(
    steps: Steps,
    t: int,
    rng: Rng,
    clients: NDArray[np.int64],
    population: int,
    sizes: NDArray[np.int64],
    batch_size: int | None,
) -> NDArray[np.int64]:
    """Return the largest number of local steps of each client [m] in a round.

    Parameters
    ----------
    steps : int, sequence of int, Epochs, or callable
        A scalar, one value per device by global index, passes over a client's samples, or a
        function of (t, m, rng) for a scalar or one value per client.
    t : int
        The round, from 0.
    rng : numpy.random.Generator
        Handed to ``steps`` if it is a function.
    clients : ndarray of int64, [m]
        Global indices of the clients.
    population : int
        M, the number of devices.
    sizes : ndarray of int64, [m]
        Number of samples of each client.
    batch_size : int or None
        Samples per step; None for all samples of the client.

    Raises
    ------
    ValueError
        If that is not a whole number >= 1, or one per device or client.
    """
    if isinstance(steps, Epochs):
        return steps.steps(sizes, batch_size)
    drawn = callable(steps)
    given = np.asarray(steps(t, len(clients), rng) if callable(steps) else steps)
    count, of_whom = (len(clients), "clients") if drawn else (population, "devices")
    if given.dtype.kind not in "iu" or given.shape not in ((), (count,)) or (given < 1).any():
        must = f"a whole number >= 1, or one for each of the {count} {of_whom}"
        hint = "; to draw them, give UniformSteps(least, most)" * (given.shape == (2,))
        raise OptionError(f"steps in round {t}", must, given.tolist(), hint)
    chosen = given[clients] if given.ndim and not drawn else given
    return np.full(len(clients), chosen, np.int64)
