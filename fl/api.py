"""What learning needs from the outside: a link that adds up vectors. It knows nothing of radio.

Arrays are NumPy's. With a sequence of generators, one for each trial, every array gains a leading
trial axis, written ``...`` below; m clients take part, with vectors of d entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rng = np.random.Generator | Sequence[np.random.Generator]


@dataclass(frozen=True)
class Reception:
    """What the server has after a round.

    total : [..., d], what it believes the sum of the signals to be, the gain removed
    energy : [..., m, L], spent by each client in each OFDM symbol; one column on links without
        symbols
    diagnostics : by name, each with the trial axis. Every link of this package reports

        ``nmse`` : [...], squared error over the squared norm of the true sum
        ``snr_db``, ``entry_snr_db`` : [...], the SNR of the link by both definitions
        ``active_fraction``, ``silent`` : [..., m], how much of the spectrum a client could use,
        and whether it was none
        ``airtime``, ``pilot_airtime`` : [...], time on the air, and how much of it pilots took [s]
        ``radiated_energy`` : [..., m], prefix included, pilots not

        those over the air also ``received_snr_db`` [...], the energy of the sum at the antenna over
        that of the noise; those with OFDM ``symbols`` [...].
    """

    total: NDArray
    energy: NDArray
    diagnostics: Mapping[str, NDArray]


@runtime_checkable
class Slot(Protocol):
    """One round's uplink: fading drawn, channels estimated."""

    @property
    def budget(self) -> NDArray:
        """[..., m, C], C constraints a client: the L OFDM symbols, or 1 for the whole round."""

    def energy(self, signals: ArrayLike) -> NDArray:
        """``[..., m, d]`` to ``[..., m, C]``, at unit gain."""

    def load(self, signals: ArrayLike) -> NDArray:
        """[..., m], the largest of energy over budget."""

    def max_gain(self, signals: ArrayLike) -> NDArray:
        """[...], the largest common gain within every budget; inf if none binds."""

    def send(
        self,
        signals: ArrayLike,
        gain: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        enforce: bool = True,
    ) -> Reception:
        """Send ``gain * signals`` and give back their sum, the gain removed.

        Sending again on the same slot meets the same channels and new noise.

        weights : [..., m], for a server that makes up for those it did not hear: how much each
            client counts. The signals carry their weights already, and are not multiplied by
            these; equal by default
        enforce : raise if a budget is exceeded by more than 1e-5
        """


@runtime_checkable
class Link(Protocol):
    """An uplink. It holds no state: what persists is a function of (device_rng, client, time)."""

    def open(
        self,
        num_clients: int,
        length: int,
        rng: Rng,
        *,
        clients: ArrayLike | None = None,
        time: float = 0.0,
        device_rng: Rng | None = None,
    ) -> Slot:
        """Open a round.

        clients : [num_clients], global indices of those who take part, by default the first ones
        time : since the run began [s]
        device_rng : keyed without the round, for what belongs to a device or a place; without it
            the devices are new
        """
