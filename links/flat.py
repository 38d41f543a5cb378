"""One round over a channel that is the same for every entry of a vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.opening import Opening
from links.radio import Noise, received_snr_db
from links.slot import BaseSlot, squared_norm
from phy.randomness import complex_normal


@dataclass(frozen=True)
class FlatPrecoding:
    """What clients and server do at unit gain; see :class:`phy.power.Precoding`.

    cost, weight, active : [trials, num_clients]
    scale : [trials]
    """

    cost: NDArray
    weight: NDArray
    scale: NDArray
    active: NDArray[np.bool_]


class FlatSlot(BaseSlot):
    """Entries 2n and 2n+1 are I and Q of one channel use, all of them with the same gain."""

    def __init__(
        self,
        opening: Opening,
        budget: NDArray[np.float64],
        precoding: FlatPrecoding,
        noise: Noise,
        report: Mapping[str, NDArray],
    ) -> None:
        """``budget [num_clients]``; ``report`` goes into the diagnostics."""
        super().__init__(opening, budget[:, None])
        self.precoding = precoding
        self._noise_std = noise.std
        self._report = {**noise.report, **report}

    def _energy(self, trial: int, signals: NDArray) -> NDArray[np.float64]:
        norms = np.array([squared_norm(vector) for vector in signals])
        return (self.precoding.cost[trial] * norms)[:, None]

    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        weight = self.precoding.weight[trial]
        arrived = weight.real.astype(signals.dtype) @ signals
        if np.iscomplexobj(weight):
            # j (I + j Q) = -Q + j I; an odd vector's last Q is empty, and what falls there is lost
            turned = weight.imag.astype(signals.dtype) @ signals
            pairs = len(turned) // 2 * 2
            arrived[1::2] += turned[:pairs:2]
            arrived[:pairs:2] -= turned[1::2]
        return arrived, self._energy(trial, signals)

    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, float]]:
        scale, noise_std = float(self.precoding.scale[trial]), self._noise_std[trial]
        noise_energy = len(arrived) * noise_std**2
        measured = received_snr_db(squared_norm(arrived), gain * scale, noise_energy)
        if noise_std > 0 and np.isfinite(gain):
            std = math.sqrt(2) * noise_std / (gain * scale)  # N0 = 2 sigma_c^2
            pairs = complex_normal(self._opening.rngs[trial], (-(-len(arrived) // 2),), std)
            arrived = arrived + pairs.view(np.float32)[: len(arrived)]
        return self._made_up(trial, arrived, weights), {"received_snr_db": measured}

    def _made_up(self, trial: int, received: NDArray, weights: NDArray[np.float64]) -> NDArray:
        """What was received, corrected for those who were not heard."""
        return received

    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        return {
            **self._report,
            "active_fraction": self.precoding.active.astype(float),
            "silent": ~self.precoding.active,
            "radiated_energy": spent.sum(axis=-1),
        }
