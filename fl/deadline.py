"""A time limit on local training, and what late clients do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Outcome, Round
from fl.api import Reception
from fl.streams import Purpose, client_streams
from otafl._base.names import options
from otafl._base.validation import choice, number


@options
@dataclass(frozen=True)
class Deadline:
    """Local training ends after a time, and devices compute at different speeds.

    Parameters
    ----------
    seconds : float
        Time > 0 that clients have for their local steps.
    step_time : float
        Median time > 0 that a device takes for one local step, in seconds.
    spread : float
        Standard deviation >= 0 of the logarithm of a device's time; 0.5 by default. The time of a
        device is the same in all rounds.
    late : {"drop", "send"}
        What a client does if it has not finished its local steps in time: it is silent ("drop", the
        default), or it sends what it has ("send"), unless it has not taken a single step.

    Notes
    -----
    A device takes step_time exp(spread z) for a step, z ~ N(0, 1), a function of the run's seed and
    the device. The weights of the clients that are in time are scaled up by a common factor, so
    that they add up to the same sum; the result is then biased towards the data of fast devices. An
    algorithm that needs fewer steps, as ACPC-OTA-FL does where power allows it, has fewer late
    clients.

    Examples
    --------
    >>> Deadline(seconds=1.0, step_time=0.1, spread=0.0).steps(0, np.arange(2))
    array([10, 10])
    """

    seconds: float
    step_time: float
    spread: float = 0.5
    late: Literal["drop", "send"] = "drop"

    def __post_init__(self) -> None:
        number("seconds", self.seconds, above=0)
        number("step_time", self.step_time, above=0)
        number("spread", self.spread, least=0)
        choice("late", self.late, ("drop", "send"))

    def steps(self, seed: int, clients: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many local steps each client [m] can take in time, possibly none."""
        streams = client_streams(seed, 0, Purpose.COMPUTE_TIME, clients.tolist())
        normals = np.array([rng.standard_normal() for rng in streams])
        times = self.step_time * np.exp(self.spread * normals)
        possible = np.floor(self.seconds / times * (1 + 1e-9))  # 10 steps of 0.1 s take 1 s
        return np.minimum(possible, 2**31).astype(np.int64)


def late_clients(
    deadline: Deadline | None, seed: int, current: Round, steps: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which clients [m] cannot take their ``steps`` [m] in time."""
    if deadline is None:
        return np.zeros(len(steps), bool)
    return deadline.steps(seed, current.clients) < steps


def without_late(
    current: Round, updates: NDArray, late: NDArray[np.bool_]
) -> tuple[Round, NDArray]:
    """Return a round and its updates [m, d], with weight and update 0 for late clients."""
    if not late.any():
        return current, updates
    in_time, factor = np.where(late, 0.0, current.weights), 1.0
    if in_time.any():
        factor = float(current.weights.sum() / in_time.sum())
    silenced = np.where(late[:, None], updates.dtype.type(0), updates)
    return replace(current, weights=factor * in_time, reweighting=factor), silenced


def nobody_sends(current: Round) -> Outcome:
    """Return the outcome of a round in which every client is late: the server keeps its model."""
    nothing = Reception(
        np.zeros_like(current.model),
        np.zeros((len(current.weights), 1)),
        {"airtime": np.asarray(0.0), "radiated_energy": np.zeros(len(current.weights))},
    )
    return Outcome(current.model, nothing, gain=0.0, state=current.state)
