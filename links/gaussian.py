"""The Gaussian multiple-access channel of H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air
Federated Learning with Joint Adaptive Computation and Power Control", section III.B.

    y = sum_i z_i + w,   w ~ N(0, sigma_c^2 I),   ||z_i||^2 <= P_i

=============  =====================================
paper          here
=============  =====================================
z_i            gain times signals[i]
P_t^i          power
sigma_c^2      reference_power / 10^(snr_db / 10)
beta_t         max_gain of alpha_i Delta_i / tau_i
=============  =====================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.flat import FlatPrecoding, FlatSlot
from links.opening import BaseLink, Opening
from links.radio import RadioLink
from phy.checks import assign, number

BANDWIDTH = 12e6
"""Of the default OFDM grid: 400 carriers of 30 kHz [Hz]."""


def channel_uses(
    bandwidth: float, opening: Opening, pilots: int = 0
) -> dict[str, NDArray[np.float64]]:
    """What two entries a channel use, ``bandwidth`` uses a second, take of the air."""
    uses = -(-opening.length // 2) + pilots
    return {
        "airtime": np.full(opening.num_trials, uses / bandwidth),
        "pilot_airtime": np.full(opening.num_trials, pilots / bandwidth),
    }


@dataclass(frozen=True, kw_only=True)
class GaussianLink(RadioLink, BaseLink[FlatSlot]):
    """The paper's MAC: the sum of what is sent, and Gaussian noise.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    bandwidth : complex channel uses a second, each of two entries; for the airtime only [Hz]

    Examples
    --------
    >>> slot = GaussianLink(snr_db=np.inf).open(2, 4, np.random.default_rng(1))
    >>> signals = [[1, 2, 3, 4], [1, 1, 1, 1]]
    >>> print(f"{slot.max_gain(signals):.4f}")  # 1 / sqrt(1 + 4 + 9 + 16)
    0.1826
    >>> slot.send(signals, gain=0.18).total
    array([2., 3., 4., 5.])
    """

    bandwidth: float = BANDWIDTH

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(self, bandwidth=number("bandwidth", self.bandwidth, above=0))

    def _open(self, opening: Opening) -> FlatSlot:
        shape = (opening.num_trials, opening.num_clients)
        precoding = FlatPrecoding(
            cost=np.broadcast_to(1 / self.path_gains(opening), shape),
            weight=np.ones(shape, np.float32),
            scale=np.ones(opening.num_trials),
            active=np.ones(shape, bool),
        )
        report = channel_uses(self.bandwidth, opening)
        return FlatSlot(opening, self.powers(opening), precoding, self.noise_of(opening), report)
