r"""Transmit power: what a client sends on each carrier so that its share of the sum arrives.

A client with channel sqrt(path_gain) h sends x = gain b s. The server receives
y = gain sum_i sqrt(path_gain_i) h_i b_i s_i + n and divides by gain and by its own scale.

- Inversion with truncation: b = 1 / (sqrt(path_gain) h^) where |h^|^2 > truncation, else 0; the
  server's scale is 1. G. Zhu, Y. Wang and K. Huang, "Broadband analog aggregation for low-latency
  federated edge learning", IEEE Trans. Wireless Commun. 19(1), 2020 (truncated channel inversion).
- MMSE: b = sqrt(p) e^{-j arg h^}, p = min(P / v, eta / (path_gain |h^|^2)), the server's scale is
  sqrt(eta), with eta minimising the mean square error of the sum of symbols that have variance v at
  gain 1. X. Cao, G. Zhu, J. Xu and K. Huang, "Optimized power control for over-the-air computation
  in fading channels", IEEE Trans. Wireless Commun. 19(11), 2020 (the threshold-based policy for
  static channels, where all v are 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chndtr

from otafl._base.arrays import BoolArray, ComplexArray, Float32Array, FloatArray
from phy.fading import Law
from phy.phasors import unit_phasors

SMALLEST = float(np.finfo(np.float32).tiny)  # a weaker channel cannot be inverted in float32
UNIT_SCALE = np.ones((1, 1), np.float32)
UNIT_SCALE.setflags(write=False)


class Precoding(NamedTuple):
    """What clients and server do on each carrier at unit gain.

    Attributes
    ----------
    cost : ndarray of float32, shape [num_clients, num_slots, num_carriers]
        |b|^2, the transmit energy of a symbol of unit energy.
    arrival : ndarray of bool, float32 or complex64, same shape
        Arrival factor: the factor between a symbol's intended and received value, with the
        server's scale divided out. 1 is perfect, 0 a truncated carrier.
    scale : ndarray of float32, shape [1 or num_slots, 1 or num_carriers]
        What the server divides by.
    active : ndarray of bool, shape of ``cost``
        Where a client sends.
    """

    cost: Float32Array
    arrival: NDArray
    scale: Float32Array
    active: BoolArray

    @property
    def active_fraction(self) -> FloatArray:
        """[num_clients] fraction of slots and carriers on which each client sends."""
        active = self.active.reshape(len(self.active), -1)
        return np.add.reduce(active.view(np.uint8), axis=1, dtype=np.uint32) / active.shape[1]

    def amplitude(self, estimate: ComplexArray) -> ComplexArray:
        """Return b, whose phase undoes that of the estimate."""
        amplitude = unit_phasors(estimate)
        np.conjugate(amplitude, out=amplitude)
        amplitude *= np.sqrt(self.cost)
        return amplitude


def largest_arrival(arrival: NDArray, weights: FloatArray | None) -> np.float64:
    """Return the largest arrival factor of clients with a weight, 1, or 0 if all are silent.

    It is known under inversion with perfect CSI. NaN otherwise: clients do not know their arrival
    factors, which may exceed 1, or the server's scale, and with it what the noise hides, differs
    between carriers.

    Parameters
    ----------
    arrival : ndarray of bool, float32 or complex64, shape [num_clients, ...]
        Arrival factors of all clients.
    weights : ndarray of float, shape [num_clients], or None
        Client weights; None if all clients send.
    """
    if arrival.dtype != bool:
        return np.float64(np.nan)
    return np.float64(arrival.any() if weights is None else arrival[weights > 0].any())


def _active(estimate: ComplexArray, truncation: float) -> tuple[Float32Array, BoolArray]:
    """Return |h^|^2, and where it is above the threshold."""
    strength = np.abs(estimate)
    np.square(strength, out=strength)
    return strength, strength > np.float32(max(truncation, SMALLEST))


def invert(
    response: ComplexArray, estimate: ComplexArray, path_gain: FloatArray, truncation: float
) -> Precoding:
    """Return channel inversion, truncated where the estimate is weak.

    Parameters
    ----------
    response, estimate : ndarray of complex64, shape [num_clients, num_slots, num_carriers]
        The channel and the clients' estimate of it; the same array object under perfect CSI.
    path_gain : ndarray of float, shape [num_clients]
        Mean power of each channel.
    truncation : float
        Threshold on |h^|^2, which must exceed it.
    """
    strength, active = _active(estimate, truncation)
    np.maximum(strength, np.float32(SMALLEST), out=strength)
    inverse = np.divide(active, strength, out=strength)
    arrival: NDArray = active
    if estimate is not response:
        arrival = response * estimate.conj() * inverse
    cost = np.multiply(inverse, (1 / path_gain).astype(np.float32)[:, None, None], out=inverse)
    return Precoding(cost, arrival, UNIT_SCALE, active)


def mmse(
    response: ComplexArray,
    estimate: ComplexArray,
    path_gain: FloatArray,
    element_power: FloatArray,
    noise: float,
    variances: FloatArray | None = None,
) -> Precoding:
    """Return the optimal static power control of every carrier by itself.

    Parameters
    ----------
    response, estimate, path_gain
        As for :func:`invert`.
    element_power : ndarray of float, shape [num_clients]
        The budget of one resource element.
    noise : float
        N0, the complex noise variance of a resource element.
    variances : ndarray of float, shape [num_clients], optional
        v_i, the variances of the clients' symbols at gain 1; 1 by default. A client with 0 has
        nothing to send, and plays no part.
    """
    strength, active = _active(estimate, truncation=0.0)
    gains = strength * path_gain[:, None, None]
    if variances is None:
        most = element_power[:, None, None]
    else:
        most = np.zeros(len(variances))
        np.divide(element_power, variances, out=most, where=variances > 0)
        most = most[:, None, None]
    reach = np.sqrt(most * gains) * active  # sqrt(P_i / v_i) |h_i|
    eta = mmse_scale(reach, noise, variances)

    wanted = np.divide(eta, gains, out=np.zeros_like(gains), where=active)
    power = np.minimum(most, wanted)
    amplitude = np.sqrt(power * path_gain[:, None, None] / eta).astype(np.float32)
    arrival: NDArray
    if estimate is response:
        arrival = amplitude * np.sqrt(strength)
    else:
        arrival = amplitude * response * unit_phasors(estimate).conj()
    return Precoding(power.astype(np.float32), arrival, np.sqrt(eta).astype(np.float32), active)


def active_probability(
    truncation: float, law: Law, error_variance: FloatArray | float = 0.0
) -> FloatArray:
    """Return P(|h^|^2 > truncation) for h^ = h + e, e ~ CN(0, error_variance).

    Notes
    -----
    Given the phase of its specular part, h^ is CN(., V) with V = 1 - specular + error_variance, so
    2 |h^|^2 / V is noncentral chi-square; exp(-truncation / V) without a line of sight.
    """
    variance = np.asarray(1 - law.specular + error_variance, np.float64)
    if law.specular == 0:
        return np.exp(-truncation / variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = 1 - chndtr(2 * truncation / variance, 2, 2 * law.specular / variance)
    # below this variance floats cannot tell the distribution from a point
    return np.where(variance > 1e-9, tail, np.greater(law.specular, truncation).astype(np.float64))


def mmse_scale(reach: FloatArray, noise: float, variances: FloatArray | None = None) -> FloatArray:
    r"""Return eta*, the optimal scale of Cao et al., for symbols of any variance.

    Parameters
    ----------
    reach : ndarray of float, shape [num_clients, ...]
        sqrt(P_i / v_i) |h_i|. A client that cannot reach the server (zero) plays no part; where
        none can, the scale is 1.
    noise : float
        N0.
    variances : ndarray of float, shape [num_clients], optional
        v_i, the variances of the clients' symbols; 1 by default.

    Notes
    -----
    The error of the sum, sum_i v_i (min(q_i / sqrt(eta), 1) - 1)^2 + N0 / eta with q = reach, is
    smallest at eta* = min_k eta_k. With q ascending::

        eta_k = ((N0 + sum_{i<=k} v_i q_i^2) / sum_{i<=k} v_i q_i)^2

    Each eta_k is the minimum of the error in which the k clients of least reach, and no others,
    send with full power.

    Examples
    --------
    Two clients, the second with a quarter of the variance and so with twice the reach:

    >>> float(mmse_scale(np.array([1.0, 2.0]), 0.5, np.array([1.0, 0.25])))
    2.25
    """
    if variances is None:
        ordered = np.sort(reach, axis=0)
        total = np.cumsum(ordered, axis=0)
        power = np.cumsum(ordered**2, axis=0)
    else:
        order = np.argsort(reach, axis=0)
        ordered = np.take_along_axis(reach, order, axis=0)
        total = np.cumsum(variances[order] * ordered, axis=0)
        power = np.cumsum(variances[order] * ordered**2, axis=0)
    ratio = np.divide(noise + power, total, out=np.full(total.shape, np.inf), where=total > 0)
    best = ratio.min(axis=0) ** 2
    return np.where(np.isfinite(best), best, 1.0)
