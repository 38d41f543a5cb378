"""What an algorithm is: what clients and server do in a round, without radio and without data.

One round, in the order of time: ``plan`` before anyone trains; the clients train, watched by the
plan if it asks to; ``aggregate`` sends what they learnt and gives the next model. Both are pure:
what an algorithm must remember it puts into its outcome, and finds it in the next round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Reception, Slot


@dataclass(frozen=True)
class Round:
    """What is known when a round begins.

    number : t, from 0
    model : [d], x_t
    slot : the round's uplink
    weights : [m], alpha_i, each client's part of the data
    capability : [m], the most local steps that each client can do in this round
    rate : eta_t, of the local steps
    memory : what the algorithm put into its last outcome
    """

    number: int
    model: NDArray
    slot: Slot
    weights: NDArray[np.float64]
    capability: NDArray[np.int64]
    rate: float
    memory: Mapping[str, NDArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """How long the clients train.

    steps : [m], each at least 1
    gain : announced beforehand, for algorithms that do
    serves : given the number of steps so far and the updates [m, d], says for each client [m]
        whether its update would do; without it everyone does all of its steps
    largest : False to stop at the first update that serves, True to go on and take the last one;
        who has none takes that of all its steps
    """

    steps: NDArray[np.int64]
    gain: float | None = None
    serves: Callable[[int, NDArray], NDArray[np.bool_]] | None = None
    largest: bool = False

    def __post_init__(self) -> None:
        steps = np.asarray(self.steps)
        if steps.ndim != 1 or steps.dtype.kind not in "iu" or (steps < 1).any():
            raise ValueError(
                f"steps = {self.steps!r} is not allowed: give a whole number >= 1 for each client"
            )
        object.__setattr__(self, "steps", steps)


@dataclass(frozen=True)
class Outcome:
    """What a round gave.

    model : [d], x_{t+1}
    reception : what the link reported
    gain : the common gain of all signals, the paper's beta_t
    scaled_down : [m], who had to send less than its part for want of power; by default nobody
    memory : for the next round, numbers or arrays of them; it finds arrays
    """

    model: NDArray
    reception: Reception
    gain: float
    scaled_down: NDArray[np.bool_] | None = None
    memory: Mapping[str, ArrayLike] = field(default_factory=dict)


def weighted(updates: NDArray, weights: NDArray[np.float64]) -> NDArray:
    """[m, d], each client's update times its weight [m], in the precision of the updates."""
    return weights.astype(updates.dtype)[:, None] * updates


class Algorithm(ABC):
    """The base of all algorithms; only :meth:`aggregate` must be written."""

    def plan(self, round: Round) -> Plan:
        """By default everyone does what it can."""
        return Plan(steps=round.capability)

    @abstractmethod
    def aggregate(
        self, round: Round, plan: Plan, updates: NDArray, steps: NDArray[np.int64]
    ) -> Outcome:
        """The next model, from updates [m, d], the differences to x_t after ``steps`` [m]."""
