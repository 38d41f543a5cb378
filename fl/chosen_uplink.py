"""The uplink of those who were chosen among candidates.

All candidates are heard when their channels are measured; those who were not chosen stay silent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.algorithm import prepared
from fl.api import Reception, Uplink
from fl.metrics import METRICS, PER_CLIENT

PER_CANDIDATE = {name for name, metric in METRICS.items() if metric.dims == PER_CLIENT} | {"silent"}


class ChosenUplink:
    """An opened uplink, seen by some of its clients.

    Parameters
    ----------
    uplink : Uplink
        The uplink of all candidates.
    places : ndarray of int64, [m]
        Which of them were chosen.
    """

    def __init__(self, uplink: Uplink, places: NDArray[np.int64]) -> None:
        self._uplink, self._places = uplink, places
        self._candidates = len(uplink.budget)
        self.budget = uplink.budget[places]
        self.moving = getattr(uplink, "moving", False)

    def prepared(self, signals: ArrayLike) -> ChosenUplink:
        """Return the uplink with its power control made for signals [m, d]."""
        return ChosenUplink(prepared(self._uplink, self._of_all(signals)), self._places)

    def energy(self, signals: ArrayLike) -> NDArray:
        """Return the energy [m, C] that signals [m, d] would take at unit gain."""
        return self._uplink.energy(self._of_all(signals))[self._places]

    def load(self, signals: ArrayLike) -> NDArray:
        """Return the largest ratio [m] of energy to budget of each client at unit gain."""
        return self._uplink.load(self._of_all(signals))[self._places]

    def max_gain(self, signals: ArrayLike) -> float:
        """Return the largest common gain within every budget; inf if no budget binds."""
        return self._uplink.max_gain(self._of_all(signals))

    def send(
        self,
        signals: ArrayLike,
        gain: float,
        *,
        weights: ArrayLike | None = None,
        enforce: bool = True,
    ) -> Reception:
        """Send ``gain * signals`` and return the received sum with the gain removed."""
        shares = np.ones(len(self._places)) if weights is None else np.asarray(weights)
        received = self._uplink.send(
            self._of_all(signals), gain, weights=self._of_all(shares), enforce=enforce
        )
        diagnostics = {
            name: np.asarray(value)[self._places] if name in PER_CANDIDATE else value
            for name, value in received.diagnostics.items()
        }
        return replace(received, energy=received.energy[self._places], diagnostics=diagnostics)

    def _of_all(self, chosen: ArrayLike) -> NDArray:
        """Return one row per candidate, of zeros for those who were not chosen."""
        rows = np.asarray(chosen)
        everyone = np.zeros((self._candidates, *rows.shape[1:]), rows.dtype)
        everyone[self._places] = rows
        return everyone
