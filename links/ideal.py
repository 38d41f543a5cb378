"""No radio: the exact sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.radio import BaseLink, Participants
from links.uplink import Received, Uplink, exact_sum
from otafl._base.arrays import FloatArray
from otafl._base.names import options


@options
@dataclass(frozen=True)
class IdealLink(BaseLink):
    """The exact sum, which takes no time and no energy and has no budget.

    Examples
    --------
    >>> uplink = IdealLink().open(2, 3, np.random.default_rng(1))
    >>> uplink.send([[1, 2, 3], [4, 5, 6]], gain=1).total
    array([5., 7., 9.])
    """

    def _open(self, who: Participants) -> Uplink:
        return Uplink(
            who.clients,
            who.length,
            unlimited(who.num_clients),
            IdealMedium(),
            only=lambda places: self._open(who.only(places)),
        )


def unlimited(num_clients: int) -> FloatArray:
    """Return the budget of a link that has none, [num_clients, 1]."""
    return np.full((num_clients, 1), np.inf)


class IdealMedium:
    """Adds signals up."""

    def energy(self, signals: NDArray) -> FloatArray:
        """Return zero."""
        return np.zeros((len(signals), 1))

    def superpose(self, signals: NDArray) -> tuple[NDArray, FloatArray]:
        """Return the exact sum."""
        return exact_sum(signals), self.energy(signals)

    def receive(
        self, arrived: NDArray, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Return the sum as it is."""
        names = ("noise_std", "sum_noise_std")
        exact = {"largest_arrival": np.float64(1), **dict.fromkeys(names, np.float64(0))}
        return Received(arrived, {**quiet_report(len(spent)), **exact})


def quiet_report(num_clients: int) -> dict[str, NDArray | np.float64]:
    """Return diagnostics of a round with no noise, no silent clients, no airtime and no energy."""
    return {
        "snr_db": np.float64(np.inf),
        "entry_snr_db": np.float64(np.inf),
        "active_fraction": np.ones(num_clients),
        "silent": np.zeros(num_clients, bool),
        "airtime": np.float64(0),
        "pilot_airtime": np.float64(0),
        "radiated_energy": np.zeros(num_clients),
    }
