r"""What the paper proves, as numbers to hold against an experiment.

H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control": Theorem 1, Example 1, Theorem 2 and Corollary 1.

=============  ==================================================
paper          here
=============  ==================================================
L              smoothness
sigma^2        gradient_variance
sigma_c^2      channel_variance
eta            rate
alpha_i        weights
tau_t^i        steps
beta_t         gains
F(x_0)-F(x*)   gap
=============  ==================================================

**The dimension.** Both theorems write sigma_c^2 where a noise N(0, sigma_c^2 I_d) has the expected
square d sigma_c^2. With ``dimension=1``, the default, each formula is as printed; with
``dimension=d`` it is what holds. In Theorem 1 sigma^2 is the variance of a coordinate, so d
multiplies both noises; in Theorem 2 it is that of the whole vector (Assumption 2), and d multiplies
sigma_c^2 alone. For example, on F = 1/2 ||x||^2 in 100 dimensions with eta = 0.1 and
sigma_c^2 = 0.01 alone, the printed floor of E||x_t||^2 is 0.053; runs settle at 5.3:

>>> print(f"{theorem1_floor(0.1, 1.0, 0.0, 0.01):.3f}")
0.053
>>> print(f"{theorem1_floor(0.1, 1.0, 0.0, 0.01, dimension=100):.1f}")
5.3
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.acpc import Acpc
from fl.checks import Count, NotNegative, Positive, checked
from fl.history import History


def theorem1_recursion(
    distance: float,
    rounds: int,
    rate: float,
    smoothness: float,
    gradient_variance: float,
    channel_variance: float,
    dimension: int = 1,
) -> NDArray[np.float64]:
    """[rounds + 1], the lower bound on E||x_t - x*||^2, from ``distance`` = ||x_0 - x*||^2.

    E||x_{t+1} - x*||^2 >= (1 - eta L)^2 E||x_t - x*||^2 + eta^2 sigma^2 + sigma_c^2
    """
    shrink, noise = _theorem1(rate, smoothness, gradient_variance, channel_variance, dimension)
    checked("distance", distance, NotNegative)
    powers = shrink ** np.arange(checked("rounds", rounds, Count) + 1)
    return powers * distance + noise * (1 - powers) / (1 - shrink)


def theorem1_floor(
    rate: float,
    smoothness: float,
    gradient_variance: float,
    channel_variance: float,
    dimension: int = 1,
) -> float:
    """lim E||x_t - x*||^2 >= (eta^2 sigma^2 + sigma_c^2) / (1 - (1 - eta L)^2)."""
    shrink, noise = _theorem1(rate, smoothness, gradient_variance, channel_variance, dimension)
    return noise / (1 - shrink)


def _theorem1(
    rate: float,
    smoothness: float,
    gradient_variance: float,
    channel_variance: float,
    dimension: int,
) -> tuple[float, float]:
    """(1 - eta L)^2 and the noise of a round."""
    checked("rate", rate, Positive)
    checked("smoothness", smoothness, Positive)
    checked("gradient_variance", gradient_variance, NotNegative)
    checked("channel_variance", channel_variance, NotNegative)
    if rate * smoothness >= 1:
        raise ValueError(
            f"rate = {rate} is not allowed: Theorem 1 needs eta < 1/L = {1 / smoothness:g}"
        )
    noise = rate**2 * gradient_variance + channel_variance
    return (1 - rate * smoothness) ** 2, checked("dimension", dimension, Count) * noise


def example1_limit(
    hessians: ArrayLike, linear: ArrayLike, weights: ArrayLike, steps: ArrayLike, rate: float
) -> NDArray[np.float64]:
    """[d], where noise-free gradient descent on quadratics ends with unequal local steps.

    x_hat = [sum_i w_i K_i H_i]^{-1} [sum_i w_i K_i e_i],
    K_i = [I - (I - eta H_i)^tau_i] H_i^{-1}

    (the appendix flips the sign of K_i in one line; this is its definition).

    hessians : [m, d, d], H_i
    linear : [m, d], e_i
    weights : [m], w_i = beta_i / beta: alpha_i for averaging, alpha_i / tau_i for ACPC-OTA-FL
    steps : [m], tau_i
    """
    matrices, vectors = np.asarray(hessians, np.float64), np.asarray(linear, np.float64)
    checked("rate", rate, Positive)
    identity = np.eye(matrices.shape[-1])
    left, right = np.zeros_like(identity), np.zeros(matrices.shape[-1])
    for h, e, w, tau in zip(matrices, vectors, np.asarray(weights), np.asarray(steps), strict=True):
        moved = identity - np.linalg.matrix_power(identity - rate * h, int(tau))  # K_i H_i
        left += w * moved
        right += w * moved @ np.linalg.solve(h, e)
    return np.asarray(np.linalg.solve(left, right), np.float64)


@dataclass(frozen=True)
class Theorem2:
    """The four terms of the bound on min_t E||grad F(x_t)||^2, each a number or one a round."""

    optimisation: NDArray[np.float64]
    statistical: NDArray[np.float64]
    local_update: NDArray[np.float64]
    channel_noise: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        return self.optimisation + self.statistical + self.local_update + self.channel_noise


@dataclass(frozen=True)
class Constants:
    """What Theorem 2 assumes of a problem.

    smoothness : L, of every client's objective
    gradient_variance : sigma^2, largest E||grad F_i(x, xi) - grad F_i(x)||^2
    gradient_bound : G, largest norm of a stochastic gradient
    gap : F(x_0) - F(x*)
    """

    smoothness: float
    gradient_variance: float
    gradient_bound: float
    gap: float

    def __post_init__(self) -> None:
        checked("smoothness", self.smoothness, Positive)
        for name in ("gradient_variance", "gradient_bound", "gap"):
            checked(name, getattr(self, name), NotNegative)


def theorem2(
    constants: Constants,
    rate: float,
    weights: ArrayLike,
    steps: ArrayLike,
    gains: ArrayLike,
    channel_variance: float,
    dimension: int = 1,
) -> Theorem2:
    """The bound after 1, 2, ..., T rounds with local steps [T, m] and gains [T].

    2 (F(x_0) - F(x*)) / (T eta) + L eta sigma^2 sum_i alpha_i^2
    + m L^2 eta^2 G^2 sum_i alpha_i^2 tau_i^2 + L sigma_c^2 / (eta beta^2)

    tau_i^2 and 1 / beta^2 are the means of (tau_t^i)^2 and 1 / beta_t^2 over the rounds so far.
    """
    checked("rate", rate, Positive)
    checked("channel_variance", channel_variance, NotNegative)
    smoothness = constants.smoothness
    if rate * smoothness > 1:
        raise ValueError(
            f"rate = {rate} is not allowed: Theorem 2 needs eta <= 1/L = {1 / smoothness:g}"
        )
    alpha, tau = np.asarray(weights, np.float64), np.asarray(steps, np.float64)
    beta = np.asarray(gains, np.float64)
    if alpha.ndim != 1 or tau.shape != (*beta.shape, *alpha.shape) or not tau.size:
        raise ValueError(
            f"weights, steps and gains of shapes {alpha.shape}, {tau.shape} and {beta.shape} are "
            "not allowed: give [m], [T, m] and [T]"
        )
    rounds = np.arange(1.0, len(tau) + 1)
    mean_square_steps = np.cumsum(tau**2, axis=0) / rounds[:, None]
    mean_inverse_gain = np.cumsum(beta**-2.0) / rounds
    spread = np.full(len(rounds), np.sum(alpha**2))
    noise = checked("dimension", dimension, Count) * channel_variance
    return Theorem2(
        optimisation=2 * constants.gap / (rounds * rate),
        statistical=smoothness * rate * constants.gradient_variance * spread,
        local_update=len(alpha)
        * (smoothness * rate * constants.gradient_bound) ** 2
        * (mean_square_steps @ alpha**2),
        channel_noise=smoothness * noise * mean_inverse_gain / rate,
    )


def theorem2_of(
    history: History, constants: Constants, channel_variance: float, scaled: bool = True
) -> Theorem2:
    """The bound over the rounds of a run of ACPC-OTA-FL, to draw over its gradient norm.

    channel_variance : sigma_c^2, ``link.noise(d).variance`` of the links here
    scaled : with the dimension of the noise, which is what holds, or as printed

    Runs to which the theorem does not apply are refused, with the reason.
    """
    if not len(history):
        raise ValueError("Theorem 2 does not apply to this run: it has no round")
    scaled_down = int(history["scaled_down"].sum())
    partial = int((history["active_fraction"] < 1).any(axis=1).sum())
    reasons = {
        f"it is about ACPC-OTA-FL, not {history.algorithm!r}": not isinstance(
            history.algorithm, Acpc
        ),
        f"signals were scaled down {scaled_down} times": scaled_down > 0,
        f"clients were silent on part of the spectrum in {partial} rounds": partial > 0,
        "the rate was not constant": np.ptp(history["rate"]) > 0,
        f"momentum was {history.sgd.momentum}": history.sgd.momentum > 0,
    }
    broken = [reason for reason, holds in reasons.items() if holds]
    if broken:
        raise ValueError(f"Theorem 2 does not apply to this run: {'; '.join(broken)}")
    return theorem2(
        constants,
        float(history["rate"][0]),
        history.weights,
        history["steps"],
        history["gain"],
        channel_variance,
        len(history.model) if scaled else 1,
    )


def corollary1(
    constants: Constants,
    num_clients: int,
    rounds: int,
    steps: int,
    channel_variance: float,
    dimension: int = 1,
) -> Theorem2:
    """Theorem 2 at alpha_i = 1/m, tau_i = tau, eta = sqrt(m/T) and beta^2 = m / eta^2.

    O((sigma^2 + 1) / sqrt(mT)) + O(m tau^2 G^2 / T) + O(sigma_c^2 / sqrt(mT))
    """
    checked("num_clients", num_clients, Count)
    checked("rounds", rounds, Count)
    rate = float(np.sqrt(num_clients / rounds))
    if rate * constants.smoothness > 1:
        least = math.ceil(num_clients * constants.smoothness**2)
        raise ValueError(
            f"rounds = {rounds} is not allowed: eta = sqrt(m/T) <= 1/L takes at least {least}"
        )
    whole = theorem2(
        constants,
        rate,
        np.full(num_clients, 1 / num_clients),
        np.full((rounds, num_clients), checked("steps", steps, Count)),
        np.full(rounds, np.sqrt(num_clients) / rate),
        channel_variance,
        dimension,
    )
    return Theorem2(*(term[-1] for term in vars(whole).values()))
