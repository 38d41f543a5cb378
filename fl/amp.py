"""Approximate message passing (AMP): a sparse vector from fewer noisy projections than entries.

[1] D. L. Donoho, A. Maleki and A. Montanari, "Message-passing algorithms for compressed sensing",
Proceedings of the National Academy of Sciences 106(45), 2009.

[2] M. Bayati and A. Montanari, "The dynamics of message passing on dense graphs, with applications
to compressed sensing", IEEE Transactions on Information Theory 57(2), 2011.

[3] D. L. Donoho and I. M. Johnstone, "Ideal spatial adaptation by wavelet shrinkage", Biometrika
81(3), 1994.

=============  ===============================================================
symbol         here
=============  ===============================================================
y, A           ``received`` [n], ``projection``
x, z           ``estimate`` [d], ``residual`` [n]
lambda         ``threshold``, in units of the noise that AMP sees
delta = n/d    ``ratio``
tau_k^2        what :func:`state_evolution` returns
=============  ===============================================================
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from fl.projection import Projection
from otafl._base.arrays import FloatArray
from otafl._base.validation import integer, number, real_array


def soft(values: NDArray, threshold: float) -> NDArray:
    """Return values moved towards zero by a threshold, and zero where they do not exceed it.

    >>> soft(np.array([-3.0, -1.0, 0.5, 2.5]), 1.0)
    array([-2. , -0. ,  0. ,  1.5])
    """
    smaller = np.maximum(np.abs(values) - values.dtype.type(threshold), values.dtype.type(0))
    return np.copysign(smaller, values)


def amp(
    received: NDArray, projection: Projection, *, threshold: float = 1.4, iterations: int = 30
) -> NDArray:
    """Return an estimate of x [d] from y = A x + w [n] by AMP with soft thresholding.

    Parameters
    ----------
    received : ndarray, [n]
        y.
    projection : Projection
        A.
    threshold : float
        lambda > 0; 1.4 by default. The noise level need not be known: AMP estimates it from the
        residual.
    iterations : int
        Number of iterations; 30 by default.

    Returns
    -------
    ndarray, [d]
        The estimate, in the precision of ``received``.

    Notes
    -----
    From x = 0 and z = y, as in [1], D. L. Donoho et al., "Message-passing algorithms for compressed
    sensing"::

        x <- soft(x + A^T z, lambda ||z|| / sqrt(n))
        z <- y - A x + (||x||_0 / n) z

    It recovers x exactly from noiseless projections if x is sparse enough. By state evolution it
    diverges, whatever x, unless 2 [(1 + lambda^2) Phi(-lambda) - lambda phi(lambda)] < n/d: lambda
    must exceed 0.41, 0.76, 1.18 for n/d = 1/2, 1/4, 1/10.

    Examples
    --------
    >>> from fl.projection import DctProjection
    >>> sparse = np.zeros(1000)
    >>> sparse[[3, 500]] = [1.0, -2.0]
    >>> projection = DctProjection(rows=300, size=1000)
    >>> estimate = amp(projection.forward(sparse), projection)
    >>> bool(np.abs(estimate - sparse).max() < 1e-4)
    True
    """
    _check(threshold, iterations)
    rows = projection.rows
    estimate = np.zeros(projection.size, received.dtype)
    residual = received
    for _ in range(iterations):
        noise = float(np.linalg.norm(residual)) / math.sqrt(rows)
        estimate = soft(estimate + projection.adjoint(residual), threshold * noise)
        onsager = received.dtype.type(np.count_nonzero(estimate) / rows)
        residual = received - projection.forward(estimate) + onsager * residual
    return estimate


def state_evolution(
    values: ArrayLike,
    ratio: float,
    noise_variance: float,
    *,
    threshold: float = 1.4,
    iterations: int = 30,
) -> FloatArray:
    """Return the variance tau_k^2 of the noise that AMP sees in each iteration, [iterations + 1].

    Parameters
    ----------
    values : array_like
        Entries of x; X has their empirical distribution.
    ratio : float
        delta = n/d > 0.
    noise_variance : float
        s^2 >= 0, the variance of each entry of w.
    threshold : float
        lambda > 0; 1.4 by default.
    iterations : int
        Number of iterations of AMP to predict; 30 by default.

    Returns
    -------
    ndarray of float64, [iterations + 1]
        tau_0^2 to tau_K^2. After k iterations the mean squared error of an entry of AMP's estimate
        is delta (tau_k^2 - s^2).

    Notes
    -----
    For independent Gaussian entries of A and large d, by [2], M. Bayati and A. Montanari, "The
    dynamics of message passing on dense graphs", with Z ~ N(0, 1)::

        tau_0^2     = s^2 + E X^2 / delta
        tau_{k+1}^2 = s^2 + E (soft(X + tau_k Z, lambda tau_k) - X)^2 / delta

    The expectation over Z is the closed form of :func:`soft_risk`.

    Examples
    --------
    >>> state_evolution([0.0, 0.0, 0.0, 1.0], 0.5, 0.01, iterations=2).round(4)
    array([0.51  , 0.3982, 0.3636])
    """
    given = real_array("values", values).astype(np.float64).ravel()
    number("ratio", ratio, above=0)
    number("noise_variance", noise_variance, least=0)
    _check(threshold, iterations)
    variances = [noise_variance + float(np.mean(given**2)) / ratio]
    for _ in range(iterations):
        error = float(np.mean(soft_risk(given, math.sqrt(variances[-1]), threshold)))
        variances.append(noise_variance + error / ratio)
    return np.array(variances)


def soft_risk(values: FloatArray, noise: float, threshold: float) -> FloatArray:
    """Return E(soft(X + tau Z, lambda tau) - X)^2 over Z ~ N(0, 1), for each value X.

    Parameters
    ----------
    values : ndarray of float64
        The values of X.
    noise : float
        tau >= 0.
    threshold : float
        lambda.

    Notes
    -----
    With mu = X / tau, by integration of the three branches of soft, as in [3], D. L. Donoho and
    I. M. Johnstone, "Ideal spatial adaptation by wavelet shrinkage"::

        tau^2 [1 + lambda^2 + (mu^2 - lambda^2 - 1) (Phi(lambda - mu) - Phi(-lambda - mu))
               - (lambda - mu) phi(lambda + mu) - (lambda + mu) phi(lambda - mu)]
    """
    if noise == 0:
        return np.zeros_like(values)
    mean = np.minimum(np.abs(values) / noise, 1e8)  # beyond it the last three terms are zero
    below, above = threshold - mean, threshold + mean
    inside = ndtr(below) - ndtr(-above)
    risk = 1 + threshold**2 + (mean**2 - threshold**2 - 1) * inside
    return noise**2 * (risk - below * _density(above) - above * _density(below))


def _density(values: FloatArray) -> FloatArray:
    """Return the standard normal density."""
    return np.exp(-0.5 * values**2) / math.sqrt(2 * math.pi)


def _check(threshold: float, iterations: int) -> None:
    number("threshold", threshold, above=0)
    integer("iterations", iterations, least=1)
