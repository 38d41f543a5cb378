r"""Quadratic problems, for which the theory is exact.

Each client has

    F_i(x) = 1/2 x^T H_i x - e_i^T x + 1/2 e_i^T H_i^{-1} e_i

as in Example 1 of H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with
Joint Adaptive Computation and Power Control". A sample is a vector whose mean over the client's
samples is e_i; its label says whose it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.checks import Count, NotNegative, checked
from fl.data import Dataset


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The model: label c has the Hessian ``hessians[c]``.

    hessians : [C, d, d], symmetric, positive definite
    start : [d], where training begins, zero by default
    """

    hessians: NDArray[np.float64]
    start: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        hessians = np.array(self.hessians, np.float64)
        if hessians.ndim != 3 or hessians.shape[1] != hessians.shape[2] or not hessians.size:
            raise ValueError(f"hessians of shape {hessians.shape} are not allowed: give [C, d, d]")
        if not np.isfinite(hessians).all() or not np.allclose(hessians, hessians.swapaxes(1, 2)):
            raise ValueError("hessians are not finite and symmetric")
        if np.linalg.eigvalsh(hessians).min() <= 0:
            raise ValueError("hessians are not all positive definite")
        object.__setattr__(self, "hessians", hessians)

    @property
    def size(self) -> int:
        return self.hessians.shape[-1]

    def initial(self, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.zeros(self.size) if self.start is None else np.array(self.start, np.float64)

    def features(self, x: NDArray) -> NDArray[np.float64]:
        if x.shape[1:] != (self.size,):
            raise ValueError(f"samples of shape {x.shape[1:]} do not fit d = {self.size}")
        return x.astype(np.float64)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """H x - e, both the mean over the batch."""
        hessian = self._mean_hessian(y)
        return np.matmul(params, hessian) - x.mean(axis=1)[:, None]

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        constants = np.empty(y.shape)  # 1/2 e^T H^{-1} e of every sample
        for label in np.unique(y):
            own = x[y == label]
            solved = np.linalg.solve(self.hessians[label], own.T).T
            constants[y == label] = 0.5 * np.einsum("nd,nd->n", own, solved)
        constant = constants.mean(axis=1)
        curved = 0.5 * np.matmul(params, self._mean_hessian(y)) - x.mean(axis=1)[:, None]
        return np.einsum("msd,msd->ms", curved, params) + constant[:, None]

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """There are no classes to get right: the accuracy is NaN."""
        return self.loss(params[None], x[None], y[None])[0], np.full(len(params), np.nan)

    def _mean_hessian(self, y: NDArray) -> NDArray[np.float64]:
        """[m, d, d]."""
        counts = (y[:, :, None] == np.arange(len(self.hessians))).mean(axis=1)
        return np.tensordot(counts, self.hessians, axes=1)


@dataclass(frozen=True, eq=False)
class QuadraticProblem:
    """A quadratic for every client, ready to train on.

    model : its Hessians
    linear : [m, d], e_i
    data : samples, those of client i with label i; the test set has e_i itself, one a client
    shards : the samples of each client
    """

    model: Quadratic
    linear: NDArray[np.float64]
    data: Dataset
    shards: list[NDArray[np.int64]]

    def optimum(self, weights: ArrayLike) -> NDArray[np.float64]:
        """[d], x* = (sum_i alpha_i H_i)^{-1} sum_i alpha_i e_i."""
        alpha = np.asarray(weights, np.float64)
        hessian = np.tensordot(alpha, self.model.hessians, axes=1)
        return np.asarray(np.linalg.solve(hessian, alpha @ self.linear), np.float64)


def quadratic_problem(
    hessians: ArrayLike,
    linear: ArrayLike,
    *,
    samples: int = 1,
    noise_std: float = 0.0,
    rng: np.random.Generator | None = None,
    start: ArrayLike | None = None,
) -> QuadraticProblem:
    """The problem with these H_i [m, d, d] and e_i [m, d].

    A client's ``samples`` scatter about e_i with exactly that mean and the covariance
    ``noise_std^2 I``, so that a minibatch of B has gradient noise N(0, noise_std^2 / B I) all but
    for its finite number of samples.
    """
    model = Quadratic(
        np.asarray(hessians), None if start is None else np.asarray(start, np.float64)
    )
    centres = np.asarray(linear, np.float64)
    clients, size = len(model.hessians), model.size
    if centres.shape != (clients, size) or not np.isfinite(centres).all():
        raise ValueError(
            f"linear of shape {centres.shape} is not allowed: give finite [{clients}, {size}]"
        )
    checked("samples", samples, Count)
    checked("noise_std", noise_std, NotNegative)
    scatter = np.zeros((clients, samples, size))
    if noise_std > 0:
        if samples <= size or rng is None:
            raise ValueError(
                f"samples = {samples} cannot scatter in d = {size} dimensions: give more of them "
                "than d, and rng"
            )
        drawn = rng.standard_normal((clients, samples, size))
        drawn -= drawn.mean(axis=1, keepdims=True)
        scatter = np.linalg.qr(drawn)[0] * np.sqrt(samples) * noise_std
    owner = np.arange(clients)
    data = Dataset(
        (centres[:, None] + scatter).reshape(-1, size), np.repeat(owner, samples), centres, owner
    )
    shards = [np.arange(samples) + samples * client for client in range(clients)]
    return QuadraticProblem(model, centres, data, shards)


def default_quadratic(clients: int = 10, size: int = 20) -> QuadraticProblem:
    """Clients that disagree, with Hessians of eigenvalues from 0.1 to 1; always the same."""
    rng = np.random.default_rng(0)
    turns = np.linalg.qr(rng.standard_normal((clients, size, size)))[0]
    hessians = turns @ (np.linspace(0.1, 1, size)[:, None] * turns.swapaxes(1, 2))
    hessians = (hessians + hessians.swapaxes(1, 2)) / 2
    linear = rng.standard_normal((clients, size))
    return quadratic_problem(hessians, linear, samples=100, noise_std=0.5, rng=rng)
