"""Federated averaging over the air, without power control: the baseline of Theorem 1.

[1] H. B. McMahan, E. Moore, D. Ramage, S. Hampson and B. Agüera y Arcas, "Communication-efficient
learning of deep networks from decentralized data", AISTATS 2017.

[2] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control", section IV.A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from fl.api import Reception
from otafl._base.added import added
from otafl._base.names import options
from otafl._base.validation import choice

ROUNDING = 1e-9  # by which a sum of weights may differ from 1
SMALLEST_GAIN, LARGEST_GAIN = 1e-12, 1e12  # that links take


@options
@dataclass(frozen=True)
class FedAvg(Algorithm):
    """Federated averaging without power limit, which is the baseline of the paper.

    The energy that this takes is recorded all the same. Over ``IdealLink`` this is noise-free
    FedAvg.

    Parameters
    ----------
    sends : {"models", "updates"}
        What clients send: whole models at unit gain (the default), as in Theorem 1 of [2]; or
        updates, with a gain that follows their size. Where clients are silent on part of the
        spectrum and the server does not correct for it, models shrink, as with weight decay.

    Notes
    -----
    From section IV.A of [2], H. Yang et al., "Over-the-Air Federated Learning with Joint Adaptive
    Computation and Power Control", with w_t as in its Eq. (3)::

        x_{t+1} = sum_i alpha_i x_t^i + w_t,   w_t ~ N(0, sigma_c^2 I)

    Where only some devices take part, their weights may add up to another number than 1. The server
    then adds (1 - sum_i alpha_i) x_t of its own, so that without noise whole models and updates
    give the same.

    The paper does not say what its FedAvg sends in the experiments. With updates, clients send
    beta_t alpha_i Delta_i with beta_t = ||sum_i alpha_i Delta_i||^(-1/2)::

        x_{t+1} = x_t + sum_i alpha_i Delta_i + w_t / beta_t

    so that the energy of the noise, d sigma_c^2 / beta_t^2, is proportional to the norm of the
    update. This rule is ours; it is not published.

    Examples
    --------
    >>> FedAvg(sends="updates")
    FedAvg(sends='updates')
    """

    sends: Literal["models", "updates"] = added("0.3", default="models", earlier="models")

    def __post_init__(self) -> None:
        choice("sends", self.sends, ("models", "updates"))

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i x_i at unit gain, or alpha_i Delta_i, whatever it takes."""
        if self.sends == "models":
            models = weighted(current.received + updates, current.weights)
            received = self._sent(current, models, 1.0)
            missing = 1 - float(current.weights.sum())
            if abs(missing) < ROUNDING:
                return Outcome(received.total, received, 1.0, sum_factor=1.0)
            share = current.model.dtype.type(missing)
            return Outcome(received.total + share * current.model, received, 1.0, sum_factor=1.0)
        signals = weighted(updates, current.weights)
        norm = float(np.linalg.norm(signals.sum(axis=0, dtype=np.float64)))
        gain = float(np.clip(1 / np.sqrt(max(norm, 1e-30)), SMALLEST_GAIN, LARGEST_GAIN))
        received = self._sent(current, signals, gain)
        return Outcome(current.model + received.total, received, gain, sum_factor=1.0)

    def _sent(self, current: Round, signals: NDArray, gain: float) -> Reception:
        return current.uplink.send(signals, gain, weights=current.weights, enforce=False)
