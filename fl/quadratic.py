"""Quadratic problems, for which the theory is exact.

The objective of client i is::

    F_i(x) = 1/2 x^T H_i x - e_i^T x + 1/2 e_i^T H_i^{-1} e_i

as in Example 1 of H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with
Joint Adaptive Computation and Power Control". A sample is a vector, and the mean of a client's
samples is e_i; the label of a sample is the index of its client.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.data import Dataset
from fl.problem import Problem
from otafl._base.names import check_names, options
from otafl._base.validation import OptionError, assign, integer, number


@options
@dataclass(frozen=True, eq=False)
class Quadratic:
    """The quadratic model: samples with label c have the Hessian ``hessians[c]``.

    Parameters
    ----------
    hessians : array_like, [C, d, d]
        Symmetric, positive definite matrices.
    start : array_like, [d], optional
        The initial model; zero by default.

    Raises
    ------
    ValueError
        If the matrices are not symmetric and positive definite.

    Examples
    --------
    >>> Quadratic(np.eye(3)[None]).size
    3
    """

    hessians: NDArray[np.float64]
    start: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        hessians = np.array(self.hessians, np.float64)
        if hessians.ndim != 3 or hessians.shape[1] != hessians.shape[2] or not hessians.size:
            raise OptionError("hessians", "of shape [C, d, d]", hessians.shape)
        if not np.isfinite(hessians).all() or not np.allclose(hessians, hessians.swapaxes(1, 2)):
            raise OptionError("hessians", "finite and symmetric", hessians)
        if np.linalg.eigvalsh(hessians).min() <= 0:
            raise OptionError("hessians", "positive definite", hessians)
        assign(self, hessians=hessians)

    @property
    def size(self) -> int:
        """d, the number of parameters."""
        return self.hessians.shape[-1]

    def initial(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return ``start`` [d]."""
        return np.zeros(self.size) if self.start is None else np.array(self.start, np.float64)

    def features(self, x: NDArray) -> NDArray[np.float64]:
        """Return samples [n, d] as float64."""
        if x.shape[1:] != (self.size,):
            raise OptionError("samples", f"of shape {(self.size,)}", x.shape[1:])
        return x.astype(np.float64)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return H x - e [m, S, d], with the mean of H and e over the batch."""
        return np.matmul(params, self._mean_hessian(y)) - x.mean(axis=1)[:, None]

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the mean loss of each batch, [m, S]."""
        constants = np.empty(y.shape)  # 1/2 e^T H^{-1} e of every sample
        for label in np.unique(y):
            own = x[y == label]
            solved = np.linalg.solve(self.hessians[label], own.T).T
            constants[y == label] = 0.5 * np.einsum("nd,nd->n", own, solved)
        constant = constants.mean(axis=1)
        curved = 0.5 * np.matmul(params, self._mean_hessian(y)) - x.mean(axis=1)[:, None]
        return np.einsum("msd,msd->ms", curved, params) + constant[:, None]

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return the loss [S], and NaN for the accuracy [S]: there are no classes."""
        return self.loss(params[None], x[None], y[None])[0], np.full(len(params), np.nan)

    def _mean_hessian(self, y: NDArray) -> NDArray[np.float64]:
        """Return the mean Hessian of each batch, [m, d, d]."""
        counts = (y[:, :, None] == np.arange(len(self.hessians))).mean(axis=1)
        return np.tensordot(counts, self.hessians, axes=1)


@options
@dataclass(frozen=True, eq=False)
class QuadraticProblem(Problem):
    """A problem with one quadratic per client; :func:`quadratic_problem` makes one.

    Parameters
    ----------
    model : Quadratic
        The Hessians H_i.
    data : Dataset
        Samples, with label i for those of client i; the test set is e_i, one sample per client.
    shards : sequence of ndarray of int64
        The samples of each client.
    linear : ndarray, [m, d]
        e_i.
    """

    model: Quadratic
    linear: NDArray[np.float64]

    def optimum(self, weights: ArrayLike) -> NDArray[np.float64]:
        """Return x* = (sum_i alpha_i H_i)^{-1} sum_i alpha_i e_i [d].

        Parameters
        ----------
        weights : array_like, [m]
            Client weights alpha_i.
        """
        alpha = np.asarray(weights, np.float64)
        hessian = np.tensordot(alpha, self.model.hessians, axes=1)
        return np.asarray(np.linalg.solve(hessian, alpha @ self.linear), np.float64)


@check_names
def quadratic_problem(
    hessians: ArrayLike,
    linear: ArrayLike,
    *,
    samples: int = 1,
    noise_std: float = 0.0,
    rng: np.random.Generator | None = None,
    start: ArrayLike | None = None,
) -> QuadraticProblem:
    """Return the problem with Hessians H_i and linear terms e_i.

    Parameters
    ----------
    hessians : array_like, [m, d, d]
        H_i, symmetric and positive definite.
    linear : array_like, [m, d]
        e_i.
    samples : int
        Number of samples per client; 1 by default.
    noise_std : float
        Standard deviation >= 0 of each entry of the samples about e_i; 0 by default. A client's
        samples have exactly the mean e_i and the covariance ``noise_std**2 I``, so a minibatch of
        B has gradient noise of covariance ``noise_std**2 / B I``, nearly Gaussian if there are many
        samples.
    rng : numpy.random.Generator, optional
        Source of the samples, needed with ``noise_std``.
    start : array_like, [d], optional
        The initial model; zero by default.

    Returns
    -------
    QuadraticProblem
        A :class:`fl.Problem` that also knows its optimum.

    Raises
    ------
    ValueError
        If the shapes do not fit, or if there are too few samples to scatter.

    Examples
    --------
    >>> problem = quadratic_problem(np.ones((2, 1, 1)), [[1.0], [3.0]])
    >>> problem.optimum(problem.weights)
    array([2.])
    """
    model = Quadratic(
        np.asarray(hessians), None if start is None else np.asarray(start, np.float64)
    )
    centres = np.asarray(linear, np.float64)
    clients, size = len(model.hessians), model.size
    if centres.shape != (clients, size) or not np.isfinite(centres).all():
        must = f"finite and of shape {(clients, size)}"
        raise OptionError("linear", must, centres, f" of shape {centres.shape}")
    integer("samples", samples, least=1)
    number("noise_std", noise_std, least=0)
    scatter = np.zeros((clients, samples, size))
    if noise_std > 0:
        if samples <= size or rng is None:
            must = f"more than d = {size}, with an rng, to scatter by noise_std"
            raise OptionError("samples", must, samples)
        drawn = rng.standard_normal((clients, samples, size))
        drawn -= drawn.mean(axis=1, keepdims=True)
        scatter = np.linalg.qr(drawn)[0] * np.sqrt(samples) * noise_std
    owner = np.arange(clients)
    data = Dataset(
        (centres[:, None] + scatter).reshape(-1, size), np.repeat(owner, samples), centres, owner
    )
    shards = [np.arange(samples) + samples * client for client in range(clients)]
    return QuadraticProblem(model, data, shards, centres)


def default_quadratic(clients: int = 10, size: int = 20) -> QuadraticProblem:
    """Return clients with different optima and Hessian eigenvalues from 0.1 to 1.

    Parameters
    ----------
    clients : int
        m, 10 by default.
    size : int
        d, 20 by default.

    Returns
    -------
    QuadraticProblem
        100 samples per client, with noise_std = 0.5; the same in every call.
    """
    rng = np.random.default_rng(0)
    turns = np.linalg.qr(rng.standard_normal((clients, size, size)))[0]
    hessians = turns @ (np.linspace(0.1, 1, size)[:, None] * turns.swapaxes(1, 2))
    hessians = (hessians + hessians.swapaxes(1, 2)) / 2
    linear = rng.standard_normal((clients, size))
    return quadratic_problem(hessians, linear, samples=100, noise_std=0.5, rng=rng)
