"""ACPC-OTA-FL: joint adaptive computation and power control.

H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control".

=================  ===========================================================
paper              here
=================  ===========================================================
alpha_i            Round.weights
beta_t             gain
tau_t^i            steps
eta, G             Round.rate, Acpc.G
x_{t,tau} - x_t    updates[i]
delta_t^i          gain * signals[i], signals[i] = alpha_i updates[i] / tau_i
P_t^i              Slot.budget, for a whole round or for every OFDM symbol
=================  ===========================================================

What the paper leaves open, and how it is resolved here:

- beta_t needs the updates, and choosing tau_t^i needs beta_t. ``beta="bound"`` fixes beta_t before
  the round by the paper's bound ||Delta_i|| <= eta tau_i G; ``"previous"`` likewise, with
  ||Delta_i|| / tau_i of the round before in place of eta G; ``"realised"`` takes all steps, and
  then the largest gain.
- ||Delta_i|| / tau_i tends to fall as tau_i grows. A client takes the smallest number of steps at
  which its signal fits (``steps="smallest"``), or the largest. The paper's prose says that
  stronger clients do more steps; with the smallest, more power means the same or fewer.
- Who does not fit even after all its steps sends its signal scaled down to its budget, and the
  round records it.
- On fading channels a unit of energy buys less on a weak channel. The bound is taken for an update
  spread evenly over its entries, and the slot says what that would cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from fl.checks import Count, Positive, checked


@dataclass(frozen=True)
class Acpc(Algorithm):
    """Joint adaptive computation and power control.

    beta : how the gain is found: ``"bound"``, ``"previous"`` or ``"realised"``
    G : design bound on the norm of a stochastic gradient, for ``beta="bound"``. Small ones give a
        large gain and scale clients down; nobody is at a run's own ``largest_gradient``
    steps : ``"smallest"`` or ``"largest"`` number of steps that fits; all with ``beta="realised"``.
        With the smallest more power means the same or fewer steps, and one where nothing limits it
    tau_min, tau_max : limits on it, tau_max one or one a client; what a client is capable of goes
        before both
    """

    beta: Literal["bound", "previous", "realised"] = "bound"
    G: float = 0.5
    steps: Literal["smallest", "largest"] = "smallest"
    tau_min: int = 1
    tau_max: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        checked("beta", self.beta, Literal["bound", "previous", "realised"])
        checked("G", self.G, Positive)
        checked("steps", self.steps, Literal["smallest", "largest"])
        checked("tau_min", self.tau_min, Count)
        limits = () if self.tau_max is None else np.atleast_1d(np.asarray(self.tau_max)).tolist()
        for limit in checked("tau_max", limits, Sequence[Count]):
            if limit < self.tau_min:
                raise ValueError(
                    f"tau_max = {self.tau_max!r} is not allowed: tau_min is {self.tau_min}"
                )

    def plan(self, round: Round) -> Plan:
        limits = round.capability
        if self.tau_max is not None:
            if np.ndim(self.tau_max) and np.shape(self.tau_max) != limits.shape:
                raise ValueError(
                    f"tau_max = {self.tau_max!r} is not allowed: give one, or one for each of the "
                    f"{len(limits)} clients"
                )
            limits = np.minimum(limits, self.tau_max)
        if self.beta == "realised" or (self.beta == "previous" and not round.memory):
            return Plan(limits)
        gain = self._gain_beforehand(round)
        return Plan(limits, gain, partial(self._fits, round, gain), self.steps == "largest")

    def aggregate(
        self, round: Round, plan: Plan, updates: NDArray, steps: NDArray[np.int64]
    ) -> Outcome:
        signals = weighted(updates, round.weights / steps)  # Eq. (precoding), without beta_t
        gain = plan.gain
        if gain is None or np.isinf(gain):  # no budget binds, or none was foreseen to
            gain = float(round.slot.max_gain(signals))
        loads = _loads(round, gain, signals)
        scaled_down = loads > 1
        fitting = (1 / np.sqrt(np.maximum(loads, 1))).astype(signals.dtype)
        received = round.slot.send(fitting[:, None] * signals, gain, weights=round.weights)
        norms = np.linalg.norm(updates.astype(np.float64), axis=1) / steps
        # Eq. (decoding): x_{t+1} = x_t + sum_i delta_i / beta_t + w_t / beta_t
        return Outcome(
            round.model + received.total, received, gain, scaled_down, {"step_norms": norms}
        )

    def _gain_beforehand(self, round: Round) -> float:
        """beta_t = min_i sqrt(P_i) / (alpha_i eta G), P_i in terms of what the channel leaves."""
        clients, length = len(round.weights), len(round.model)
        step_norms = np.full(clients, round.rate * self.G)
        if self.beta == "previous":
            step_norms = np.asarray(round.memory["step_norms"])
        expected = round.weights * step_norms / np.sqrt(length)
        even = np.broadcast_to(expected[:, None], (clients, length))
        return float(round.slot.max_gain(even.astype(round.model.dtype)))

    def _fits(self, round: Round, gain: float, step: int, updates: NDArray) -> NDArray[np.bool_]:
        if step < self.tau_min:
            return np.zeros(len(updates), bool)
        return _loads(round, gain, weighted(updates, round.weights / step)) <= 1


def _loads(round: Round, gain: float, signals: NDArray) -> NDArray[np.float64]:
    """[m], energy over budget at that gain, in the worst OFDM symbol."""
    loads = round.slot.load(signals)
    return np.where(loads > 0, loads * gain * gain, 0.0) if np.isfinite(gain) else 0 * loads
