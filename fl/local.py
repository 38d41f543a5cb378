"""Local SGD of all clients and runs at once.

Runs that are trained together share the minibatches of their clients, so one gather of samples
serves them all. Shapes: S runs, m clients, d parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from fl.algorithm import Plan
from fl.client_data import Batch, ClientData
from fl.minibatches import Rngs
from fl.models import Model
from fl.sgd import Sgd
from otafl._base.validation import OutOfRangeError

LARGEST = 1e11
"""Largest magnitude of an entry of a model or an update; beyond it a run has diverged.

Links carry signals up to 1e12.
"""


@dataclass(frozen=True)
class Trained:
    """The result of local training.

    Parameters
    ----------
    updates : ndarray, [S, m, d]
        x_i - x_t.
    steps : ndarray of int64, [S, m]
        Number of local steps taken.
    loss : ndarray of float64, [S, m]
        Loss at x_t on the first minibatch.
    largest_gradient : ndarray of float64, [S, m]
        Largest norm of a stochastic gradient, with weight decay and what its plan adds to it.
    """

    updates: NDArray
    steps: NDArray[np.int64]
    loss: NDArray[np.float64]
    largest_gradient: NDArray[np.float64]

    def of(self, run: int) -> Trained:
        """Return one run alone, without the axis of the runs."""
        return Trained(*(each[run] for each in vars(self).values()))


def moderate(vectors: NDArray) -> NDArray[np.bool_]:
    """Return whether all entries of vectors [..., d] are finite and at most LARGEST, [...]."""
    return np.abs(vectors).max(axis=-1) <= LARGEST


def train_locally(
    model: Model,
    clients: ClientData,
    sgd: Sgd,
    rate: float,
    starts: NDArray,
    plans: Sequence[Plan],
    rngs: Rngs,
) -> Trained:
    """Train every client of every run, each run by its own plan.

    Parameters
    ----------
    model : Model
        The model.
    clients : ClientData
        The samples of each client.
    sgd : Sgd
        Batch size, weight decay and momentum.
    rate : float
        Learning rate of this round.
    starts : ndarray, [S, d] or [S, m, d]
        Initial model of each run, the same for all clients or one per client.
    plans : sequence of Plan
        One per run.
    rngs : numpy.random.Generator, or one per client
        Source of the minibatches; without replacement, one per client.

    Returns
    -------
    Trained
        Updates, steps, first loss and largest gradient of each run and client.
    """
    each = starts if starts.ndim == 3 else starts[:, None]
    training = _Training(model, sgd, rate, each, plans)
    batches = clients.batches(sgd.batch_size, rngs, sgd.replacement)
    for step, batches_of in enumerate(batches, start=1):
        training.step(batches_of(training.clients), first=step == 1)
        training.collect(step)
        if training.over:
            break
    return training.result


class _Training:
    """Local training in progress.

    The models of all clients and runs that still train form one array [clients, runs, d]. A client
    that has finished keeps its place, ignored, until a whole row or column has finished.
    """

    def __init__(
        self, model: Model, sgd: Sgd, rate: float, starts: NDArray, plans: Sequence[Plan]
    ) -> None:
        self._model, self._sgd, self._rate = model, sgd, rate
        self._starts, self._plans = starts, plans
        self._add: Callable = get_blas_funcs("axpy", dtype=starts.dtype)
        self._last = np.array([plan.steps for plan in plans])  # [S, m]
        shape, num_clients = self._last.shape, self._last.shape[1]
        watched = any(plan.accept for plan in plans)
        self._steered = any(plan.proximal or plan.drift is not None for plan in plans)
        self._first_finish = 1 if watched else int(self._last.min())
        self._active = np.ones(shape, bool)
        self.clients, self._runs = np.arange(num_clients), np.arange(len(plans))
        first = starts.swapaxes(0, 1)
        self._models = np.repeat(first, num_clients, axis=0) if len(first) == 1 else first.copy()
        self._velocity = np.zeros_like(self._models) if sgd.momentum else None
        self._peaks = np.zeros(self._models.shape[:2], starts.dtype)
        self.over = False
        self.result = Trained(
            updates=np.zeros((*shape, starts.shape[-1]), starts.dtype),
            steps=np.zeros(shape, np.int64),
            loss=np.zeros(shape),
            largest_gradient=np.zeros(shape),
        )

    def step(self, batches: Iterator[Batch], first: bool) -> None:
        """Take one step of every client and run, x = x - eta (gradient + lambda x).

        The gradient includes what the plan of the run adds to it.
        """
        for who, x, y in batches:
            models, peaks = self._models[who], self._peaks[who]
            if first:
                self.result.loss[:, who] = self._model.loss(models, x, y).T
            gradient = self._gradient(models, x, y)
            if self._sgd.weight_decay:
                self._add(models.ravel(), gradient.ravel(), a=self._sgd.weight_decay)
            if self._steered:
                self._steer(models, gradient, self.clients[who])
            squares = np.matmul(gradient[..., None, :], gradient[..., None])[..., 0, 0]
            np.maximum(peaks, squares, out=peaks)
            if self._velocity is not None:
                velocity = self._velocity[who]
                velocity *= velocity.dtype.type(self._sgd.momentum)
                velocity += gradient
                gradient = velocity
            self._add(gradient.ravel(), models.ravel(), a=-self._rate)

    def _steer(self, models: NDArray, gradient: NDArray, clients: NDArray[np.int64]) -> None:
        """Add mu (y - x_i) and the drift of each run's plan to the gradient of these clients."""
        for column, run in enumerate(self._runs.tolist()):
            plan, starts = self._plans[run], self._starts[run]  # [1 or m, d]
            if plan.proximal:
                received = starts if len(starts) == 1 else starts[clients]
                gradient[:, column] += plan.proximal * (models[:, column] - received)
            if plan.drift is not None:
                gradient[:, column] += plan.drift[clients]

    def _gradient(self, models: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the gradient as a contiguous array that shares no memory with the models."""
        gradient = self._model.gradient(models, x, y)
        if gradient.shape != models.shape:
            raise ValueError(
                f"{self._model!r}.gradient must return an array of shape {models.shape}, got "
                f"{gradient.shape}"
            )
        gradient = np.ascontiguousarray(gradient, models.dtype)
        return gradient.copy() if np.may_share_memory(gradient, models) else gradient

    def collect(self, step: int) -> None:
        """Collect acceptable updates, and those of clients that took all their steps."""
        if step < self._first_finish:
            return
        done = self._active & (step >= self._last)
        take = done.copy()
        for run in self._runs.tolist():
            plan = self._plans[run]
            if plan.accept is None:
                continue
            current = self.result.updates[run].copy()
            training = self._active[run, self.clients]  # the others have finished
            current[self.clients[training]] = self._update_of(run)[training]
            wild = ~moderate(current)  # no link could measure these: their clients stop
            current[wild] = 0
            try:
                accepted = (plan.accept(step, current) | wild) & self._active[run]
            except OutOfRangeError:  # aggregation will meet it again, and stop the run
                accepted = self._active[run].copy()
            done[run] |= wild & self._active[run]
            if plan.largest:
                take[run] = accepted | (done[run] & (self.result.steps[run] == 0))
            else:
                take[run] |= accepted
                done[run] |= accepted
        for run in np.flatnonzero(take.any(axis=1)).tolist():
            chosen = take[run]
            self.result.updates[run, chosen] = self._update_of(run)[chosen[self.clients]]
            self.result.steps[run, chosen] = step
        if done.any():
            self._dismiss(done)

    def _update_of(self, run: int) -> NDArray:
        """Return the updates of the clients that are left, [clients, d]."""
        column = int(np.searchsorted(self._runs, run))
        starts = self._starts[run]  # [1 or m, d]
        return self._models[:, column] - (starts if len(starts) == 1 else starts[self.clients])

    def _dismiss(self, done: NDArray[np.bool_]) -> None:
        """Remove clients and runs that have finished altogether from the array."""
        here = np.ix_(self._runs, self.clients)
        self.result.largest_gradient[done] = np.sqrt(self._peaks.T[done[here]])
        self._active &= ~done
        self.over = not self._active.any()
        clients, runs = self._active[here].any(axis=0), self._active[here].any(axis=1)
        if clients.all() and runs.all():
            return
        kept = np.ix_(clients, runs)
        self._models = np.ascontiguousarray(self._models[kept])
        self._peaks = self._peaks[kept]
        if self._velocity is not None:
            self._velocity = self._velocity[kept]
        self.clients, self._runs = self.clients[clients], self._runs[runs]
