r"""Client-level differential privacy from the noise of the receiver.

[1] M. Bun and T. Steinke, "Concentrated differential privacy: simplifications, extensions, and
lower bounds", TCC 2016-B.

[2] C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS
2020.

The receiver has y_t = beta_t sum_i c_i s_i + w_t with w_t ~ N(0, sigma_c^2 I). If every signal is
bounded, ||s_i|| <= S_t, and neither the gain beta_t nor S_t depends on what the clients hold, a
client changes beta_t sum_i c_i s_i by at most beta_t c S_t, and round t is a Gaussian mechanism.

=========================  =========================================================
symbol                     here
=========================  =========================================================
beta_t                     ``gain``
S_t                        ``sensitivity``, from :meth:`fl.Algorithm.sensitivity`
c = max_i \|c_i\|          ``largest_arrival``, where it is known before the round
sigma_c                    ``noise_std``
rho_t                      ``rho``
epsilon, delta             ``epsilon``, ``delta``
alpha (an order of [2])    ``1 + excess``
=========================  =========================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from otafl._base.validation import OptionError, number

ASSUMPTIONS = """\
Neighbouring runs differ in one client, which takes part or sends nothing.
Public: who takes part and when, weights, channels, gains and the clipping norm.
Protected: the client's data, from whoever sees what the server receives and its models.
Trusted: the receiver's noise; whoever receives with less noise learns more.
Not covered: the other metrics of this simulation, and the choice of options by their results."""


def gaussian_zcdp(sensitivity: ArrayLike, std: ArrayLike) -> NDArray[np.float64]:
    r"""Return rho of a Gaussian mechanism in zCDP.

    Parameters
    ----------
    sensitivity : array_like
        Largest Euclidean distance >= 0 between the noise-free results of two neighbouring runs.
    std : array_like
        Standard deviation >= 0 of the white Gaussian noise in each entry.

    Returns
    -------
    ndarray of float64
        rho, of the shape to which both broadcast; inf without noise, 0 without sensitivity.

    Notes
    -----
    Proposition 1.6 of [1], M. Bun and T. Steinke, 2016: rho = sensitivity^2 / (2 std^2). By its
    Lemma 1.7, rho adds up over mechanisms, each of which may depend on the results of those before.

    Examples
    --------
    >>> float(gaussian_zcdp(1.0, 2.0))
    0.125
    """
    distance = np.asarray(sensitivity, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rho = np.square(distance / np.asarray(std, np.float64)) / 2
    return np.where(distance == 0, 0.0, rho)


def zcdp_epsilon(rho: ArrayLike, delta: float) -> NDArray[np.float64]:
    r"""Return the smallest epsilon for which rho-zCDP is known to imply (epsilon, delta)-DP.

    Parameters
    ----------
    rho : array_like
        Parameters >= 0 of zCDP; may be inf or NaN.
    delta : float
        Between 0 and 1, both excluded.

    Returns
    -------
    ndarray of float64
        epsilon, of the shape of ``rho``; inf and NaN where ``rho`` is.

    Raises
    ------
    ValueError
        If ``rho`` is negative, or ``delta`` is not between 0 and 1.

    Notes
    -----
    By Proposition 12 of [2], C. Canonne, G. Kamath and T. Steinke, 2020 (as numbered in version 4
    of arXiv:2004.00010), with the Rényi divergence alpha rho of zCDP at every order alpha > 1::

        delta = min over alpha of exp((alpha - 1) (alpha rho - epsilon)) (1 - 1/alpha)^alpha
                                  / (alpha - 1)

    The logarithm of the right side is convex in alpha, and its derivative vanishes where
    epsilon = (2 alpha - 1) rho + log(1 - 1/alpha). There the equation becomes
    log(1/delta) = (alpha - 1)^2 rho + log alpha, which grows with alpha and is solved numerically.

    Examples
    --------
    >>> print(f"{zcdp_epsilon(0.5, 1e-5):.3f}")
    4.728
    """
    if not 0 < number("delta", delta) < 1:
        raise OptionError("delta", "a number between 0 and 1, both excluded", delta)
    values = np.asarray(rho, np.float64)
    if (values < 0).any():
        raise OptionError("rho", ">= 0", rho)
    exponent = -math.log(delta)
    each = [_epsilon(value, exponent) for value in values.ravel().tolist()]
    return np.array(each, np.float64).reshape(values.shape)


def _epsilon(rho: float, exponent: float) -> float:
    """Return epsilon, by the notes of :func:`zcdp_epsilon`, with exponent = log(1/delta)."""
    if rho == 0 or not math.isfinite(rho):
        return rho

    root = math.sqrt(rho)

    def surplus(excess: float) -> float:
        return (excess * root) ** 2 + math.log1p(excess) - exponent

    # either term alone reaches log(1/delta)
    most = 1.000001 * min(math.sqrt(exponent) / root, math.expm1(min(exponent, 700)))
    excess = float(brentq(surplus, 0.0, most, xtol=most * 1e-14, rtol=1e-14))
    return max((2 * excess + 1) * rho - math.log1p(1 / excess), 0.0)


def round_zcdp(
    gain: ArrayLike, sensitivity: ArrayLike, largest_arrival: ArrayLike, noise_std: ArrayLike
) -> NDArray[np.float64]:
    """Return rho_t of rounds, from the metrics of those names; NaN where one of them is.

    A round in which nobody can send anything has no loss, whatever the others are.
    """
    sent, heard = np.asarray(sensitivity, np.float64), np.asarray(largest_arrival, np.float64)
    silent = (sent == 0) | (heard == 0)
    with np.errstate(invalid="ignore"):  # an infinite gain, without energy
        distance = np.where(silent, 0.0, np.asarray(gain, np.float64) * sent * heard)
    return gaussian_zcdp(distance, noise_std)


@dataclass(frozen=True)
class Privacy:
    """A bound on what a run reveals about a client; print it for a summary.

    Parameters
    ----------
    delta : float
        delta.
    rho : ndarray of float64, [T]
        rho_t of each round in zCDP; NaN where no bound holds.
    reasons : tuple of str
        Why no bound holds; empty if one does.

    Notes
    -----
    With S_t the sensitivity of the algorithm, in round t::

        rho_t = (beta_t c S_t)^2 / (2 sigma_c^2)

    and epsilon follows from the sum of all rho_t by :func:`fl.zcdp_epsilon`.
    """

    delta: float
    rho: NDArray[np.float64]
    reasons: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, metrics: Mapping[str, NDArray], delta: float, algorithm: str, diverged: str | None
    ) -> Privacy:
        """Return the privacy of a run with these metrics, of an algorithm of this name."""
        zcdp_epsilon(0.0, delta)  # validates delta
        names = ("gain", "sensitivity", "largest_arrival", "noise_std")
        values = {name: np.asarray(metrics.get(name, ()), np.float64) for name in names}
        rho = round_zcdp(**values)
        void = np.isnan(rho)
        unknown = {name for name, value in values.items() if np.isnan(value[void]).any()}
        whys = {
            "sensitivity": f"{algorithm} bounds no client's part (its sensitivity is None): its "
            "updates are not clipped, or its gain or its local steps depend on them.",
            "noise_std": "The sum has no receiver noise of a known level: nothing adds up in the "
            "air, or the link does not report its noise_std.",
            "largest_arrival": "The link bounds no client's arrival factor: the bound of 1 needs "
            "channel inversion with perfect CSI, or no fading, and no hardware impairments.",
        }
        reasons = [why for name, why in whys.items() if name in unknown]
        if diverged:
            reasons.append("The run diverged, and where it stopped depends on the updates.")
        if reasons:
            rho = np.full_like(rho, np.nan)
        return cls(delta, rho, tuple(reasons))

    @property
    def holds(self) -> bool:
        """Whether there is a bound, which may be infinite."""
        return not self.reasons

    @property
    def epsilon_after(self) -> NDArray[np.float64]:
        """[T] epsilon of all rounds up to each one; NaN where no bound holds."""
        return zcdp_epsilon(np.cumsum(self.rho), self.delta)

    @property
    def epsilon(self) -> float:
        """The epsilon of the whole run; NaN if no bound holds."""
        if not self.holds:
            return math.nan
        return float(zcdp_epsilon(self.rho.sum(), self.delta))

    def __str__(self) -> str:
        if not self.holds:
            return "\n".join(["No differential privacy is claimed:", *self.reasons])
        rounds = f"{len(self.rho)} round{'' if len(self.rho) == 1 else 's'}"
        return (
            f"epsilon = {self.epsilon:.4g} at delta = {self.delta:g} after {rounds} "
            f"(zCDP: rho = {self.rho.sum():.4g})\n{ASSUMPTIONS}"
        )
