"""The Gaussian multiple-access channel of the paper.

H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-air federated learning with joint adaptive
computation and power control", section III.B:

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

from links.flat import BANDWIDTH, FlatMedium, channel_uses
from links.radio import DEFAULT_SNR_DB, BaseLink, Participants, check_radio_options, noise_of
from links.uplink import Uplink
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, number


@options
@dataclass(frozen=True, kw_only=True)
class GaussianLink(BaseLink):
    """The paper's MAC: the sum of what is sent, and Gaussian noise.

    Parameters
    ----------
    snr_db : float or None
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise. 10 dB unless
        ``entry_snr_db`` is given.
    entry_snr_db : float or None
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], instead of ``snr_db``.
    power : float or sequence of float
        Limit on the energy of a round: a scalar, or one value per client by global index. From
        1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per client by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    bandwidth : float
        Complex channel uses per second, each of two entries; for the airtime only [Hz].

    Examples
    --------
    >>> uplink = GaussianLink(snr_db=np.inf).open(2, 4, np.random.default_rng(1))
    >>> signals = [[1, 2, 3, 4], [1, 1, 1, 1]]
    >>> print(f"{uplink.max_gain(signals):.4f}")  # 1 / sqrt(1 + 4 + 9 + 16)
    0.1826
    >>> uplink.send(signals, gain=0.18).total
    array([2., 3., 4., 5.])
    """

    snr_db: float | None = DEFAULT_SNR_DB
    entry_snr_db: float | None = None
    power: Scalars = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    bandwidth: float = BANDWIDTH

    def __post_init__(self) -> None:
        check_radio_options(self)
        assign(self, bandwidth=number("bandwidth", self.bandwidth, above=0))

    def _open(self, who: Participants) -> Uplink:
        path_gain = who.per_client("path_gain", self.path_gain)
        noise = noise_of(self, who.length)
        medium = FlatMedium(
            cost=1 / path_gain,
            arrival=np.ones(who.num_clients, bool),
            active=np.ones(who.num_clients, bool),
            scale=1.0,
            noise=noise,
            rng=who.rng,
            report=channel_uses(who.length, self.bandwidth),
        )
        budget = who.per_client("power", self.power)[:, None]
        return Uplink(
            who.clients,
            who.length,
            budget,
            medium,
            quality=lambda: path_gain,
            only=lambda places: self._open(who.only(places)),
        )
