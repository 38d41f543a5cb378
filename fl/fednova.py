"""Normalised averaging, the noise-free counterpart of ACPC-OTA-FL.

J. Wang, Q. Liu, H. Liang, G. Joshi and H. V. Poor, "Tackling the objective inconsistency problem
in heterogeneous federated optimization", NeurIPS 2020.

    x_{t+1} = x_t + tau_eff sum_i alpha_i Delta_i / tau_i,   tau_eff = sum_i alpha_i tau_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from fl.checks import Positive, checked


@dataclass(frozen=True)
class FedNova(Algorithm):
    """Every client counts by its data alone, however many steps it took.

    tau_eff : effective number of steps, by default the mean; 1 is ACPC-OTA-FL without noise
    """

    tau_eff: float | None = None

    def __post_init__(self) -> None:
        checked("tau_eff", self.tau_eff, Positive | None)

    def aggregate(
        self, round: Round, plan: Plan, updates: NDArray, steps: NDArray[np.int64]
    ) -> Outcome:
        signals = weighted(updates, round.weights / steps)
        gain = float(round.slot.max_gain(signals))
        received = round.slot.send(signals, gain, weights=round.weights)
        effective = float(round.weights @ steps) if self.tau_eff is None else self.tau_eff
        step = updates.dtype.type(effective)
        return Outcome(round.model + step * received.total, received, gain)
