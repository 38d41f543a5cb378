"""Federated averaging over the air, without power control: the baseline of Theorem 1.

H. B. McMahan, E. Moore, D. Ramage, S. Hampson and B. Agüera y Arcas, "Communication-efficient
learning of deep networks from decentralized data", AISTATS 2017; over the air as in H. Yang,
P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive Computation and
Power Control", section IV.A.

    x_{t+1} = sum_i alpha_i x_t^i + w_t,   w_t ~ N(0, sigma_c^2 I)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """Models are sent as they are: no gain, no limit on power; what they took is recorded.

    Where clients fall silent on part of the spectrum and the server does not make up for it, the
    model shrinks, as weight decay would do. Over ``IdealLink`` this is the noise-free FedAvg.
    """

    def aggregate(
        self, round: Round, plan: Plan, updates: NDArray, steps: NDArray[np.int64]
    ) -> Outcome:
        models = weighted(round.model + updates, round.weights)
        received = round.slot.send(models, 1.0, weights=round.weights, enforce=False)
        return Outcome(received.total, received, gain=1.0)
