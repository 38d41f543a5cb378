"""A medium that is the same for every entry of a vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links.faded import NO_CORRECTION, Correction
from links.radio import Noise, received_snr_db
from links.uplink import Received, squared_norm
from otafl._base.arrays import BoolArray, FloatArray, Rng
from phy.power import largest_arrival
from phy.randomness import complex_normal

BANDWIDTH = 12e6
"""Bandwidth of the default OFDM grid: 400 carriers of 30 kHz [Hz]."""


def channel_uses(length: int, bandwidth: float, pilots: int = 0) -> dict[str, np.float64]:
    """Return the airtime of two entries per channel use, ``bandwidth`` uses per second."""
    uses = -(-length // 2) + pilots
    return {
        "airtime": np.float64(uses / bandwidth),
        "pilot_airtime": np.float64(pilots / bandwidth),
    }


@dataclass(frozen=True)
class FlatMedium:
    """Entries 2n and 2n+1 are I and Q of one channel use, all of them with the same gain.

    Parameters
    ----------
    cost, arrival, active : ndarray, shape [num_clients]
        As in :class:`phy.power.Precoding`.
    scale : float
        What the server divides by.
    noise : Noise
        Noise level.
    rng : numpy.random.Generator
        Source of the noise.
    report : mapping
        Diagnostics that do not depend on what is sent.
    correction : Correction
        How the server compensates for truncated clients.
    channel : phy.channel.Channel or None
        The channel, for inspection; None without fading.
    """

    cost: NDArray
    arrival: NDArray
    active: BoolArray
    scale: float
    noise: Noise
    rng: Rng
    report: Mapping[str, Any]
    correction: Correction = NO_CORRECTION
    channel: Any = None

    def energy(self, signals: NDArray) -> FloatArray:
        """Return what each client spends at unit gain, [num_clients, 1]."""
        norms = np.array([squared_norm(vector) for vector in signals])
        return (self.cost * norms)[:, None]

    def superpose(self, signals: NDArray) -> tuple[NDArray, FloatArray]:
        """Return what arrives at unit gain, [d], and its energy."""
        arrived = self.arrival.real.astype(signals.dtype) @ signals
        if np.iscomplexobj(self.arrival):
            # j (I + j Q) = -Q + j I; an odd vector's last Q is empty, and what falls there is lost
            turned = self.arrival.imag.astype(signals.dtype) @ signals
            pairs = len(turned) // 2 * 2
            arrived[1::2] += turned[:pairs:2]
            arrived[:pairs:2] -= turned[1::2]
        return arrived, self.energy(signals)

    def receive(
        self, arrived: NDArray, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Add noise and correct for silent clients."""
        noise_energy = len(arrived) * self.noise.variance
        measured = received_snr_db(squared_norm(arrived), gain * self.scale, noise_energy)
        if self.noise.variance > 0 and math.isfinite(gain):
            std = math.sqrt(2) * self.noise.std / (gain * self.scale)  # N0 = 2 sigma_c^2
            pairs = complex_normal(self.rng, (-(-len(arrived) // 2),), std)
            arrived = arrived + pairs.view(np.float32)[: len(arrived)]
        noise_std = self.noise.std / self.scale
        factor = self.correction.factor(self.active[:, None, None], weights)
        if factor is not None:
            arrived = arrived * factor[0, 0]
            noise_std *= float(factor[0, 0])
        diagnostics = {
            **self.noise.report,
            **self.report,
            "active_fraction": self.active.astype(float),
            "silent": ~self.active,
            "radiated_energy": spent.sum(axis=1),
            "received_snr_db": measured,
            "noise_std": np.float64(self.noise.std),
            "largest_arrival": largest_arrival(self.arrival, weights),
            "sum_noise_std": np.float64(noise_std),
        }
        return Received(arrived, diagnostics)
