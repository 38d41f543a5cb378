"""A channel that is given instead of drawn, and CSI that looks at it twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phy.csi import Csi
from phy.fading import Fading, Taps


@dataclass
class GivenFading(Fading):
    """Path gains as a function of time, with delays known in advance or only when drawn.

    Attributes
    ----------
    gains : callable
        Takes times [n] and returns gains [num_clients, n, num_paths].
    path_delays : ndarray
        [num_paths] or [num_clients, num_paths] [s].
    asked : list of ndarray
        The times of every call of ``draw``.
    """

    gains: Callable[[NDArray], NDArray]
    path_delays: NDArray
    moving: bool = False
    known: bool = True
    asked: list[NDArray] = field(default_factory=list)

    @property
    def delays(self):
        return np.asarray(self.path_delays, np.float64) if self.known else None

    def draw(self, clients, times, rng, device_rng):
        self.asked.append(np.array(times))
        gains = np.asarray(self.gains(np.asarray(times)), np.complex64)[clients]
        return Taps(gains, np.asarray(self.path_delays, np.float64))


def fixed(gains, delays, **options) -> GivenFading:
    """Return gains [num_clients, num_paths] that do not depend on time."""
    gains = np.asarray(gains, np.complex64)
    return GivenFading(
        lambda times: np.repeat(gains[:, None], len(times), axis=1), delays, **options
    )


def turning(gains, dopplers, delays, **options) -> GivenFading:
    """Return gains [num_clients, num_paths] that turn at ``dopplers``, same shape [Hz]."""

    def at(times):
        turns = np.asarray(dopplers)[:, None] * times[:, None]
        return np.asarray(gains)[:, None] * np.exp(2j * np.pi * turns)

    return GivenFading(at, delays, moving=True, **options)


class TwoLooks(Csi):
    """A user's CSI: the straight line through two looks at the past, drawn on to the present."""

    @property
    def delays(self):
        return (1e-3, 2e-3)

    def estimate(self, observed, rng):
        return 2 * observed.response_before(1e-3) - observed.response_before(2e-3)

    def error_variance(self, grid, path_gain):
        return np.zeros((len(path_gain), grid.num_carriers))
