r"""Transmit power: what a client sends on each carrier for its share of the sum to arrive.

A client with channel sqrt(path_gain) h sends x = gain b s. The server receives
y = gain sum_i sqrt(path_gain_i) h_i b_i s_i + n and divides by gain and by its own scale.

- Inversion with truncation: b = 1 / (sqrt(path_gain) h^) where |h^|^2 > truncation, else 0; the
  server's scale is 1. G. Zhu, Y. Wang and K. Huang, "Broadband Analog Aggregation for Low-Latency
  Federated Edge Learning", IEEE Trans. Wireless Commun. 19(1), 2020.
- MMSE: b = sqrt(p) e^{-j arg h^}, p = min(P, eta / (path_gain |h^|^2)), the server's scale is
  sqrt(eta), with eta minimising the mean square error of the sum of symbols that have unit variance
  at gain 1. X. Cao, G. Zhu, J. Xu and K. Huang, "Optimized Power Control for Over-the-Air
  Computation in Fading Channels", IEEE Trans. Wireless Commun. 19(11), 2020.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chndtr

from phy.channel import Channel
from phy.fading import Law
from phy.phasors import phases_of
from phy.time_channel import TimeChannel

SMALLEST = float(np.finfo(np.float32).tiny)  # a weaker channel cannot be inverted in float32
UNIT_SCALE = np.ones((1, 1), np.float32)
UNIT_SCALE.setflags(write=False)


class Precoding(NamedTuple):
    """What clients and server do on each carrier at unit gain.

    cost : [num_clients, num_slots, num_carriers], float32, |b|^2, the transmit energy of a
        symbol of unit energy
    weight : the same shape, bool, float32 or complex64, the factor that a symbol arrives with in
        the sum, the server's scale divided out; 1 is perfect, 0 a truncated carrier
    scale : [1 or num_slots, 1 or num_carriers], what the server divides by
    active : the shape of ``cost``, bool
    """

    cost: NDArray[np.float32]
    weight: NDArray
    scale: NDArray[np.float32]
    active: NDArray[np.bool_]

    @property
    def active_fraction(self) -> NDArray[np.float64]:
        """[num_clients], of slots and carriers."""
        active = self.active.reshape(len(self.active), -1)
        return np.add.reduce(active.view(np.uint8), axis=1, dtype=np.uint32) / active.shape[1]

    def amplitude(self, channel: Channel | TimeChannel) -> NDArray[np.complex64]:
        """b, whose phase undoes that of the estimate."""
        amplitude = phases_of(channel.estimate)
        np.conjugate(amplitude, out=amplitude)
        amplitude *= np.sqrt(self.cost)
        return amplitude


def _active(
    channel: Channel | TimeChannel, truncation: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """|h^|^2 and where it is above the threshold."""
    strength = np.abs(channel.estimate)
    np.square(strength, out=strength)
    return strength, strength > np.float32(max(truncation, SMALLEST))


def invert(
    channel: Channel | TimeChannel, path_gain: NDArray[np.float64], truncation: float
) -> Precoding:
    """Channel inversion where the estimate is strong enough. ``path_gain [num_clients]``."""
    strength, active = _active(channel, truncation)
    np.maximum(strength, np.float32(SMALLEST), out=strength)
    inverse = np.divide(active, strength, out=strength)
    weight: NDArray = active
    if channel.estimate is not channel.response:
        weight = channel.response * channel.estimate.conj() * inverse
    cost = np.divide(inverse, path_gain.astype(np.float32)[:, None, None], out=inverse)
    return Precoding(cost, weight, UNIT_SCALE, active)


def mmse(
    channel: Channel | TimeChannel,
    path_gain: NDArray[np.float64],
    element_power: NDArray[np.float64],
    noise: float,
) -> Precoding:
    """Optimal static control on every carrier by itself.

    element_power : [num_clients], the budget of one resource element
    noise : N0, the complex noise variance of a resource element
    """
    strength, active = _active(channel, truncation=0.0)
    gains = strength * path_gain[:, None, None]
    reach = np.sqrt(element_power[:, None, None] * gains) * active  # sqrt(P_i) |h_i|
    eta = mmse_scale(reach, noise)

    wanted = np.divide(eta, gains, out=np.zeros_like(gains), where=active)
    power = np.minimum(element_power[:, None, None], wanted)
    arrival = np.sqrt(power * path_gain[:, None, None] / eta).astype(np.float32)
    weight: NDArray
    if channel.estimate is channel.response:
        weight = arrival * np.sqrt(strength)
    else:
        weight = arrival * channel.response * phases_of(channel.estimate).conj()
    return Precoding(power.astype(np.float32), weight, np.sqrt(eta).astype(np.float32), active)


def active_probability(
    truncation: float, law: Law, error_variance: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """P(|h^|^2 > truncation) for h^ = h + e, e ~ CN(0, error_variance).

    Given the phase of its specular part, h^ is CN(., V) with V = 1 - specular + error_variance, so
    2 |h^|^2 / V is noncentral chi-square; exp(-truncation / V) without a line of sight.
    """
    variance = np.asarray(1 - law.specular + error_variance, np.float64)
    if law.specular == 0:
        return np.exp(-truncation / variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = 1 - chndtr(2 * truncation / variance, 2, 2 * law.specular / variance)
    # so narrow that the law is a point for all that floats can tell
    return np.where(variance > 1e-9, tail, np.greater(law.specular, truncation).astype(np.float64))


def mmse_scale(reach: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    r"""eta* of Cao et al. for ``reach [num_clients, ...]``, sqrt(P_i) |h_i|.

    With q = reach ascending, eta_k = ((N0 + sum_{i<=k} q_i^2) / sum_{i<=k} q_i)^2 and
    eta* = min_k eta_k. A client that cannot reach the server (q = 0) plays no part; where none can,
    the scale is 1.
    """
    ordered = np.sort(reach, axis=0)
    total = np.cumsum(ordered, axis=0)
    power = np.cumsum(ordered**2, axis=0)
    ratio = np.divide(noise + power, total, out=np.full(total.shape, np.inf), where=total > 0)
    best = ratio.min(axis=0) ** 2
    return np.where(np.isfinite(best), best, 1.0)
