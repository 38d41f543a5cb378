"""No radio: the exact sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links.opening import BaseLink, Opening
from links.slot import BaseSlot, exact_sum


@dataclass(frozen=True)
class IdealLink(BaseLink["UnboundSlot"]):
    """The exact sum, which takes no time and no energy and has no budget.

    Examples
    --------
    >>> slot = IdealLink().open(2, 3, np.random.default_rng(1))
    >>> slot.send([[1, 2, 3], [4, 5, 6]], gain=1).total
    array([5., 7., 9.])
    """

    def _open(self, opening: Opening) -> UnboundSlot:
        return UnboundSlot(opening)


class UnboundSlot(BaseSlot):
    """A round without budgets, in which how large a signal is costs nothing."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, np.full((opening.num_clients, 1), np.inf))

    def _moderated(
        self,
        work: Callable[[int, NDArray], tuple[Any, NDArray[np.float64]]],
        signals: NDArray,
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.float64]]:
        for trial, vectors in enumerate(signals):
            self._refuse_infinite(trial, vectors)
        done = [work(trial, vectors) for trial, vectors in enumerate(signals)]
        results, energy = zip(*done, strict=True)
        return list(results), np.array(energy), np.ones(len(signals))

    def _hold_budgets(self, spent: NDArray[np.float64]) -> None:
        """There are none."""

    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        return exact_sum(signals), np.zeros((len(signals), 1))

    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, float]]:
        return arrived, {}

    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        nothing, no_limit = np.zeros(len(spent)), np.full(len(spent), np.inf)
        return {
            "snr_db": no_limit,
            "entry_snr_db": no_limit,
            "active_fraction": np.ones(spent.shape[:2]),
            "silent": np.zeros(spent.shape[:2], bool),
            "airtime": nothing,
            "pilot_airtime": nothing,
            "radiated_energy": spent[..., 0],
        }
