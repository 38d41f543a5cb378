"""Where training ends: the noise floor of Theorem 1 and the biased limit of Example 1.

[1] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from otafl._base.names import check_names
from otafl._base.validation import OptionError, integer, number


@check_names
def theorem1_recursion(
    distance: float,
    rounds: int,
    rate: float,
    smoothness: float,
    gradient_variance: float,
    channel_variance: float,
    dimension: int = 1,
) -> NDArray[np.float64]:
    """Return the lower bound of Theorem 1 on E||x_t - x*||^2, round by round.

    Parameters
    ----------
    distance : float
        ||x_0 - x*||^2.
    rounds : int
        Number of rounds.
    rate : float
        Learning rate eta > 0, below 1/L.
    smoothness : float
        L > 0.
    gradient_variance : float
        sigma^2 >= 0, the variance of each coordinate of the stochastic gradient.
    channel_variance : float
        sigma_c^2 >= 0, the variance of the channel noise per entry.
    dimension : int
        Factor of both variances: d for the corrected bound, 1 (default) for the formula as printed.

    Returns
    -------
    ndarray of float64, [rounds + 1]
        The bound before the first round and after each.

    Raises
    ------
    ValueError
        If eta >= 1/L.

    Notes
    -----
    The recursion of Theorem 1 in [1]::

        E||x_{t+1} - x*||^2 >= (1 - eta L)^2 E||x_t - x*||^2 + eta^2 sigma^2 + sigma_c^2

    Examples
    --------
    >>> theorem1_recursion(8.0, 2, 0.1, 5.0, 4.0, 0.5)
    array([8.   , 2.54 , 1.175])
    """
    shrink, noise = _theorem1(rate, smoothness, gradient_variance, channel_variance, dimension)
    number("distance", distance, least=0)
    powers = shrink ** np.arange(integer("rounds", rounds, least=1) + 1)
    return powers * distance + noise * (1 - powers) / (1 - shrink)


@check_names
def theorem1_floor(
    rate: float,
    smoothness: float,
    gradient_variance: float,
    channel_variance: float,
    dimension: int = 1,
) -> float:
    """Return the lower bound on the limit of E||x_t - x*||^2, Eq. (5) in [1].

    Parameters
    ----------
    rate : float
        Learning rate eta > 0, below 1/L.
    smoothness : float
        L > 0.
    gradient_variance : float
        sigma^2 >= 0, the variance of each coordinate of the stochastic gradient.
    channel_variance : float
        sigma_c^2 >= 0, the variance of the channel noise per entry.
    dimension : int
        Factor of both variances: d for the corrected bound, 1 (default) for the formula as printed.

    Returns
    -------
    float
        (eta^2 sigma^2 + sigma_c^2) / (1 - (1 - eta L)^2), times ``dimension``.

    Raises
    ------
    ValueError
        If eta >= 1/L.
    """
    shrink, noise = _theorem1(rate, smoothness, gradient_variance, channel_variance, dimension)
    return noise / (1 - shrink)


def _theorem1(
    rate: float, smoothness: float, gradient: float, channel: float, dimension: int
) -> tuple[float, float]:
    """Return (1 - eta L)^2 and the noise of a round."""
    number("rate", rate, above=0)
    number("smoothness", smoothness, above=0)
    number("gradient_variance", gradient, least=0)
    number("channel_variance", channel, least=0)
    if rate * smoothness >= 1:
        raise OptionError("rate", f"below 1/L = {1 / smoothness:g} for Theorem 1", rate)
    noise = rate**2 * gradient + channel
    return (1 - rate * smoothness) ** 2, integer("dimension", dimension, least=1) * noise


@check_names
def example1_limit(
    hessians: ArrayLike, linear: ArrayLike, weights: ArrayLike, steps: ArrayLike, rate: float
) -> NDArray[np.float64]:
    """Return where noise-free gradient descent on quadratics ends with unequal local steps.

    Parameters
    ----------
    hessians : array_like, [m, d, d]
        H_i.
    linear : array_like, [m, d]
        e_i.
    weights : array_like, [m]
        w_i = beta_i / beta: alpha_i for averaging, alpha_i / tau_i for ACPC-OTA-FL.
    steps : array_like of int, [m]
        tau_i.
    rate : float
        Learning rate eta > 0.

    Returns
    -------
    ndarray of float64, [d]
        The limit.

    Notes
    -----
    Eq. (9) in [1], Example 1 (the appendix flips the sign of K_i in one line; this is its
    definition)::

        x_hat = [sum_i w_i K_i H_i]^{-1} [sum_i w_i K_i e_i]
        K_i = [I - (I - eta H_i)^tau_i] H_i^{-1}

    Examples
    --------
    >>> example1_limit(np.ones((2, 1, 1)), [[1.0], [3.0]], [0.5, 0.5], [1, 1], 0.1).round(6)
    array([2.])
    """
    matrices, vectors = np.asarray(hessians, np.float64), np.asarray(linear, np.float64)
    number("rate", rate, above=0)
    identity = np.eye(matrices.shape[-1])
    left, right = np.zeros_like(identity), np.zeros(matrices.shape[-1])
    for h, e, w, tau in zip(matrices, vectors, np.asarray(weights), np.asarray(steps), strict=True):
        moved = identity - np.linalg.matrix_power(identity - rate * h, int(tau))  # K_i H_i
        left += w * moved
        right += w * moved @ np.linalg.solve(h, e)
    return np.asarray(np.linalg.solve(left, right), np.float64)
