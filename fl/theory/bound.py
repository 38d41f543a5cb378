"""The convergence bound of Theorem 2 and Corollary 1.

[1] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.acpc import Acpc
from fl.history import History
from fl.metrics import WEIGHT
from otafl._base.names import check_names, options
from otafl._base.validation import OptionError, integer, number


@dataclass(frozen=True)
class Theorem2:
    """The four terms of the bound on min_t E||grad F(x_t)||^2.

    Parameters
    ----------
    optimisation, statistical, local_update, channel_noise : ndarray of float64
        The terms in the order of Theorem 2 in [1]; scalars, or one value per round.
    """

    optimisation: NDArray[np.float64]
    statistical: NDArray[np.float64]
    local_update: NDArray[np.float64]
    channel_noise: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """The bound: the sum of the four terms."""
        return self.optimisation + self.statistical + self.local_update + self.channel_noise


@options
@dataclass(frozen=True)
class Constants:
    """The constants of a problem that Theorem 2 needs.

    Parameters
    ----------
    smoothness : float
        L > 0 of every client's objective (Assumption 1).
    gradient_variance : float
        sigma^2, the largest E||grad F_i(x, xi) - grad F_i(x)||^2 (Assumption 2).
    gradient_bound : float
        G, the largest norm of a stochastic gradient (Assumption 3).
    gap : float
        F(x_0) - F(x*).
    """

    smoothness: float
    gradient_variance: float
    gradient_bound: float
    gap: float

    def __post_init__(self) -> None:
        number("smoothness", self.smoothness, above=0)
        for name in ("gradient_variance", "gradient_bound", "gap"):
            number(name, getattr(self, name), least=0)


@check_names
def theorem2(
    constants: Constants,
    rate: float,
    weights: ArrayLike,
    steps: ArrayLike,
    gains: ArrayLike,
    channel_variance: float,
    dimension: int = 1,
) -> Theorem2:
    """Return the bound of Theorem 2 after 1, 2, ..., T rounds.

    Parameters
    ----------
    constants : Constants
        L, sigma^2, G and the gap.
    rate : float
        Learning rate eta > 0, at most 1/L.
    weights : array_like, [m]
        Client weights alpha_i.
    steps : array_like, [T, m]
        Local steps tau_t^i.
    gains : array_like, [T]
        beta_t.
    channel_variance : float
        sigma_c^2 >= 0, the variance of the channel noise per entry.
    dimension : int
        Factor of sigma_c^2: d for the corrected bound, 1 (default) for the formula as printed.

    Returns
    -------
    Theorem2
        Its four terms, [T] each.

    Raises
    ------
    ValueError
        If eta > 1/L, or if the shapes do not fit.

    Notes
    -----
    Theorem 2 in [1], where tau_i^2 and 1 / beta^2 are the means of (tau_t^i)^2 and 1 / beta_t^2
    over the rounds so far::

        2 (F(x_0) - F(x*)) / (T eta) + L eta sigma^2 sum_i alpha_i^2
        + m L^2 eta^2 G^2 sum_i alpha_i^2 tau_i^2 + L sigma_c^2 / (eta beta^2)
    """
    number("rate", rate, above=0)
    number("channel_variance", channel_variance, least=0)
    smoothness = constants.smoothness
    if rate * smoothness > 1:
        raise OptionError("rate", f"at most 1/L = {1 / smoothness:g} for Theorem 2", rate)
    alpha, tau = np.asarray(weights, np.float64), np.asarray(steps, np.float64)
    beta = np.asarray(gains, np.float64)
    if alpha.ndim != 1 or tau.shape != (*beta.shape, *alpha.shape) or not tau.size:
        shapes = (alpha.shape, tau.shape, beta.shape)
        raise OptionError("weights, steps and gains", "of shapes [m], [T, m] and [T]", shapes)
    rounds = np.arange(1.0, len(tau) + 1)
    mean_square_steps = np.cumsum(tau**2, axis=0) / rounds[:, None]
    mean_inverse_gain = np.cumsum(beta**-2.0) / rounds
    spread = np.full(len(rounds), np.sum(alpha**2))
    drift = smoothness * rate * constants.gradient_bound
    noise = integer("dimension", dimension, least=1) * channel_variance
    return Theorem2(
        optimisation=2 * constants.gap / (rounds * rate),
        statistical=smoothness * rate * constants.gradient_variance * spread,
        local_update=len(alpha) * drift**2 * (mean_square_steps @ alpha**2),
        channel_noise=smoothness * noise * mean_inverse_gain / rate,
    )


@check_names
def theorem2_of(
    history: History, constants: Constants, channel_variance: float, scaled: bool = True
) -> Theorem2:
    """Return the bound over the rounds of a run of ACPC-OTA-FL, to compare with its gradient norm.

    Parameters
    ----------
    history : History
        The run.
    constants : Constants
        L, sigma^2, G and the gap, as from :func:`fl.constants.estimate_constants`.
    channel_variance : float
        sigma_c^2, ``links.radio.noise_of(link, d).variance`` for the links of this package.
    scaled : bool
        Whether to multiply sigma_c^2 by d, for the corrected bound (True, the default), or to take
        the formula as printed.

    Returns
    -------
    Theorem2
        Its four terms, one value per round each.

    Raises
    ------
    ValueError
        If the theorem does not apply to the run; the message says why.
    """
    if not history.num_rounds:
        raise ValueError("Theorem 2 does not apply to this run: it has no rounds")
    # rounds with fewer clients than others are padded with NaN
    scaled_down = int(np.nansum(history["scaled_down"]))
    partial = int((history["active_fraction"] < 1).any(axis=1).sum())
    late = int(np.nansum(history["late"]))
    other = not isinstance(history.algorithm, Acpc)
    dependent = history.sgd.batch_size is not None and not history.sgd.replacement
    reasons = {
        f"it is about ACPC-OTA-FL, not {history.algorithm!r}": other,
        f"signals were scaled down {scaled_down} times": scaled_down > 0,
        f"clients were silent on part of the spectrum in {partial} rounds": partial > 0,
        "clients trained from models received with errors": (history["downlink_nmse"] > 0).any(),
        "the learning rate was not constant": np.ptp(history["rate"]) > 0,
        f"momentum was {history.sgd.momentum}": history.sgd.momentum > 0,
        "minibatches were drawn without replacement, so they are not independent": dependent,
        "some devices took no part in some rounds": history.weight_metric is not WEIGHT,
        f"clients were late {late} times": late > 0,
    }
    broken = [reason for reason, holds in reasons.items() if holds]
    if broken:
        raise ValueError(f"Theorem 2 does not apply to this run: {'; '.join(broken)}")
    rate, dimension = float(history["rate"][0]), len(history.model) if scaled else 1
    run = (history.weights, history["steps"], history["gain"])
    return theorem2(constants, rate, *run, channel_variance, dimension)


@check_names
def corollary1(
    constants: Constants,
    num_clients: int,
    rounds: int,
    steps: int,
    channel_variance: float,
    dimension: int = 1,
) -> Theorem2:
    """Return Theorem 2 for equal clients with the learning rate and gain of Corollary 1.

    Parameters
    ----------
    constants : Constants
        L, sigma^2, G and the gap.
    num_clients, rounds, steps : int
        m, T and tau.
    channel_variance : float
        sigma_c^2 >= 0.
    dimension : int
        Factor of sigma_c^2, as in :func:`theorem2`.

    Returns
    -------
    Theorem2
        Its four terms, scalars.

    Raises
    ------
    ValueError
        If eta = sqrt(m/T) > 1/L.

    Notes
    -----
    Corollary 1 in [1]: at alpha_i = 1/m, tau_i = tau, eta = sqrt(m/T) and beta^2 = m / eta^2 the
    bound is O((sigma^2 + 1) / sqrt(mT)) + O(m tau^2 G^2 / T) + O(sigma_c^2 / sqrt(mT)).
    """
    integer("num_clients", num_clients, least=1)
    integer("rounds", rounds, least=1)
    rate = float(np.sqrt(num_clients / rounds))
    if rate * constants.smoothness > 1:
        least = math.ceil(num_clients * constants.smoothness**2)
        raise OptionError("rounds", f"at least {least} for eta = sqrt(m/T) <= 1/L", rounds)
    alpha = np.full(num_clients, 1 / num_clients)
    tau = np.full((rounds, num_clients), integer("steps", steps, least=1))
    beta = np.full(rounds, np.sqrt(num_clients) / rate)
    whole = theorem2(constants, rate, alpha, tau, beta, channel_variance, dimension)
    return Theorem2(*(term[-1] for term in vars(whole).values()))
