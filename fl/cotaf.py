"""COTAF: time-varying precoding by the largest update.

T. Sery, N. Shlezinger, K. Cohen and Y. C. Eldar, "Over-the-air federated learning from
heterogeneous data", IEEE Transactions on Signal Processing 69, 2021.

    p_t = P / max_i ||Delta_i||^2,   x_{t+1} = x_t + (sum_i sqrt(p_t) Delta_i + w_t) / (m sqrt(p_t))

============  =====================================================
paper         here
============  =====================================================
Delta_i       updates[i]
m sqrt(p_t)   gain, the largest that every budget allows (alpha_i = 1/m)
============  =====================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from fl.checks import Positive, checked


@dataclass(frozen=True)
class Cotaf(Algorithm):
    """Updates, weighted by alpha_i, with the largest common gain.

    server_step : the received sum is multiplied by it before it is added to the model
    """

    server_step: float = 1.0

    def __post_init__(self) -> None:
        checked("server_step", self.server_step, Positive)

    def aggregate(
        self, round: Round, plan: Plan, updates: NDArray, steps: NDArray[np.int64]
    ) -> Outcome:
        signals = weighted(updates, round.weights)
        gain = float(round.slot.max_gain(signals))
        received = round.slot.send(signals, gain, weights=round.weights)
        step = updates.dtype.type(self.server_step)
        return Outcome(round.model + step * received.total, received, gain)
