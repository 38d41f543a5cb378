r"""Analog broadcast over Gaussian channels.

The server sends its model x with all its power, and client i receives

    y_i = gain x + w_i,   gain = sqrt(P) / ||x||,   w_i ~ N(0, sigma_i^2 I)

from which it has y_i / gain = x + w_i / gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.downlink import BaseDownlink, OpenedDownlink, check_server_power
from links.flat import BANDWIDTH, channel_uses
from links.radio import DEFAULT_ENTRY_SNR_DB, Participants, check_snr
from links.uplink import squared_norm
from otafl._base.arrays import FloatArray, Rng
from otafl._base.decibels import from_db
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, number, scalars
from phy.randomness import complex_normal


@options
@dataclass(frozen=True, kw_only=True)
class GaussianDownlink(BaseDownlink):
    r"""An analog broadcast in Gaussian noise, independent between clients.

    Parameters
    ----------
    snr_db : float or sequence of float, optional
        Block SNR, reference_power / sigma_i^2 [dB]; inf for no noise. A scalar, or one value per
        device by global index.
    entry_snr_db : float or sequence of float, optional
        SNR of a single entry, reference_power / (d sigma_i^2) [dB], instead of ``snr_db``; likewise
        one value or several. 20 dB unless ``snr_db`` is given.
    power : float
        P, the energy of the server's broadcast in a round. From 1e-12 to 1e12.
    reference_power : float
        The power that the SNR refers to.
    bandwidth : float
        Complex channel uses per second, each of two entries; for the airtime only [Hz].

    Notes
    -----
    Clients know the gain, a number that the server announces. The squared error of client i is
    E ||x_i - x||^2 = d sigma_i^2 / gain^2, so its NMSE is d sigma_i^2 / P: the inverse of the entry
    SNR at P = reference_power, whatever the model.

    Examples
    --------
    >>> downlink = GaussianDownlink(snr_db=[np.inf, 30.0])
    >>> opened = downlink.open(num_clients=2, length=4, rng=np.random.default_rng(1))
    >>> exact, noisy = opened.broadcast([1.0, 2.0, 3.0, 4.0]).received
    >>> exact, bool((noisy == exact).any())
    (array([1., 2., 3., 4.]), False)
    """

    snr_db: Scalars | None = None
    entry_snr_db: Scalars | None = DEFAULT_ENTRY_SNR_DB
    power: float = 1.0
    reference_power: float = 1.0
    bandwidth: float = BANDWIDTH

    def __post_init__(self) -> None:
        check_snr(self, scalars)
        check_server_power(self)
        assign(self, bandwidth=number("bandwidth", self.bandwidth, above=0))

    def _open(self, who: Participants) -> OpenedDownlink:
        if self.snr_db is not None:
            block = who.per_client("snr_db", self.snr_db)
        else:
            assert self.entry_snr_db is not None
            entry = who.per_client("entry_snr_db", self.entry_snr_db)
            block = entry + 10 * math.log10(who.length)
        medium = GaussianBroadcast(
            variance=self.reference_power * from_db(-block),
            power=self.power,
            airtime=float(channel_uses(who.length, self.bandwidth)["airtime"]),
            rng=who.rng,
        )
        return OpenedDownlink(who.num_clients, who.length, medium)


@dataclass(frozen=True)
class GaussianBroadcast:
    """The same vector for all, noise for each.

    Attributes
    ----------
    variance : ndarray of float, shape [num_clients]
        sigma_i^2 of a real entry.
    power : float
        The server's energy.
    airtime : float
        Time on the air [s].
    rng : numpy.random.Generator
        Source of the noise.
    """

    variance: FloatArray
    power: float
    airtime: float
    rng: Rng

    def deliver(self, vector: NDArray) -> NDArray:
        """Return x + w_i / gain."""
        if not self.variance.any():
            return vector[None]
        gain = math.sqrt(self.power / squared_norm(vector))
        std = np.sqrt(self.variance) / gain
        pairs = complex_normal(self.rng, (len(std), -(-len(vector) // 2)), math.sqrt(2))
        noise = pairs.view(np.float32)[:, : len(vector)]
        noise *= std.astype(np.float32)[:, None]
        return noise + vector
