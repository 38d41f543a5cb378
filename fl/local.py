"""Local SGD of all clients and trials at once.

Trials share the minibatches of their clients, so one gather of samples serves them all. A minibatch
is drawn uniformly with replacement, as Assumption 2 of the paper has it, and depends on the round's
generator alone, not on who still trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from fl.algorithm import Plan
from fl.checks import Count, NotNegative, Positive, checked
from fl.data import Dataset
from fl.models import Model, as_numbers
from fl.partition import Shards, checked_shards

LARGEST = 1e30  # entry of a model or an update; what is beyond has diverged
GATHERED_AT_ONCE = 400_000  # features, few enough to stay in the cache
DRAWN_AT_ONCE = 16  # minibatches


@dataclass(frozen=True)
class Diminishing:
    """A rate that falls: eta_t = initial / (1 + t / rounds)^power.

    Examples
    --------
    >>> Diminishing(0.4, rounds=100).at(300)
    0.2
    """

    initial: float
    rounds: float
    power: float = 0.5

    def __post_init__(self) -> None:
        for name in ("initial", "rounds", "power"):
            checked(name, getattr(self, name), Positive)

    def at(self, number: int) -> float:
        return self.initial / (1 + number / self.rounds) ** self.power


@dataclass(frozen=True)
class Sgd:
    """How clients train.

    rate : eta of a local step, constant or :class:`Diminishing` over the rounds
    batch_size : samples a step, drawn with replacement; None for all that the client has, which is
        gradient descent
    weight_decay : lambda, adds lambda x to every gradient
    momentum : mu of v = mu v + gradient, x = x - eta v; v is zero when a round begins
    """

    rate: float | Diminishing = 0.1
    batch_size: int | None = 50
    weight_decay: float = 0.0
    momentum: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Diminishing):
            checked("rate", self.rate, Positive)
        checked("batch_size", self.batch_size, Count | None)
        checked("weight_decay", self.weight_decay, NotNegative)
        checked("momentum", self.momentum, NotNegative)
        if self.momentum >= 1:
            raise ValueError(f"momentum = {self.momentum} is not allowed: give a number below 1")

    def rate_at(self, number: int) -> float:
        """eta_t in round ``number``."""
        return self.rate.at(number) if isinstance(self.rate, Diminishing) else float(self.rate)


Batch = tuple[slice, NDArray, NDArray]
"""Of which of the clients asked for, their features [m, B, ...] and labels [m, B]."""


class ClientData:
    """The training samples of each client, in the form that the model takes."""

    def __init__(self, model: Model, data: Dataset, shards: Shards) -> None:
        self.features = model.features(data.x_train)
        self.labels = data.y_train
        self.shards = checked_shards(shards, len(self.labels))
        self.num_clients = len(self.shards)
        self._sizes = np.array([len(shard) for shard in self.shards])
        # Rows of equal length, so that one look-up serves all clients; what is beyond is not drawn.
        self._rows = np.zeros((self.num_clients, self._sizes.max()), np.int64)
        for row, shard in zip(self._rows, self.shards, strict=True):
            row[: len(shard)] = shard

    def batches(
        self, batch_size: int | None, rng: np.random.Generator
    ) -> Iterator[Callable[[NDArray[np.int64]], Iterator[Batch]]]:
        """For step after step, a function that gives the batches of the clients asked for.

        Features are good until the next batch is asked for: they are gathered into the same memory.
        """
        if batch_size is None:
            while True:
                yield self._everything
        client = np.arange(self.num_clients)[:, None]
        gather = _Gather(self.features, batch_size)
        while True:
            places = rng.random((DRAWN_AT_ONCE, self.num_clients, batch_size))
            places *= self._sizes[:, None]
            samples = self._rows[client, places.astype(np.int64)]
            for each, labels in zip(samples, self.labels[samples], strict=True):
                yield partial(self._gathered, gather, each, labels)

    def _gathered(
        self,
        gather: _Gather,
        samples: NDArray[np.int64],
        labels: NDArray[np.int64],
        clients: NDArray[np.int64],
    ) -> Iterator[Batch]:
        """Of ``samples`` and ``labels`` [m, B], a few clients at a time."""
        if len(clients) < self.num_clients:
            samples, labels = samples[clients], labels[clients]
        tiles = -(-len(clients) // gather.num_clients)
        size = -(-len(clients) // tiles)
        for start in range(0, len(clients), size):
            tile = slice(start, start + size)
            yield tile, gather(samples[tile]), labels[tile]

    def _everything(self, clients: NDArray[np.int64]) -> Iterator[Batch]:
        """All that each client has, which may differ in number."""
        for place, client in enumerate(clients):
            yield slice(place, place + 1), *self.batch_of(self.shards[client])

    def batch_of(self, samples: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Features [1, B, ...] and labels [1, B] of these samples."""
        return as_numbers(self.features[samples])[None], self.labels[samples][None]


class _Gather:
    """Gathers the features of minibatches into the same memory, which stays in the cache."""

    def __init__(self, features: NDArray, batch_size: int) -> None:
        self._features = features
        self.num_clients = max(1, GATHERED_AT_ONCE // (batch_size * features[0].size))
        shape = (self.num_clients * batch_size, *features.shape[1:])
        self._rows = np.empty(shape, features.dtype)
        self._numbers = np.empty(shape, np.float32)

    def __call__(self, samples: NDArray[np.int64]) -> NDArray:
        """[m, B, ...] of samples [m, B]; good until the next call."""
        rows = self._rows[: samples.size]
        np.take(self._features, samples.ravel(), axis=0, out=rows, mode="clip")
        numbers = rows
        if rows.dtype == np.uint8:
            numbers = self._numbers[: samples.size]
            np.copyto(numbers, rows)
        return numbers.reshape(*samples.shape, *rows.shape[1:])


@dataclass(frozen=True)
class Trained:
    """What local training gave.

    updates : [S, m, d], x_i - x_t
    steps : [S, m], how many steps that took
    loss : [S, m], at x_t, on the first minibatch
    largest_gradient : [S, m], the largest norm of a stochastic gradient, weight decay included
    """

    updates: NDArray
    steps: NDArray[np.int64]
    loss: NDArray[np.float64]
    largest_gradient: NDArray[np.float64]

    def of(self, trial: int) -> Trained:
        """One trial alone, without its axis."""
        return Trained(
            self.updates[trial], self.steps[trial], self.loss[trial], self.largest_gradient[trial]
        )


def moderate(vectors: NDArray) -> NDArray[np.bool_]:
    """[...] of [..., d]: all entries finite, and none beyond what links and squares can take."""
    return np.abs(vectors).max(axis=-1) <= LARGEST


def train_locally(
    model: Model,
    clients: ClientData,
    sgd: Sgd,
    rate: float,
    starts: NDArray,
    plans: Sequence[Plan],
    rng: np.random.Generator,
) -> Trained:
    """From the models ``starts`` [S, d], each trial by its own plan."""
    training = _Training(model, clients.num_clients, sgd, rate, starts, plans)
    for step, batches_of in enumerate(clients.batches(sgd.batch_size, rng), start=1):
        training.step(batches_of(training.clients))
        training.let_go(step)
        if training.over:
            break
    return training.result


class _Training:
    """Local training under way.

    The models of all that still train are one array, [clients, trials, d]. Who is done keeps its
    place in it until a whole row or column is, and is not looked at again.
    """

    def __init__(
        self,
        model: Model,
        num_clients: int,
        sgd: Sgd,
        rate: float,
        starts: NDArray,
        plans: Sequence[Plan],
    ) -> None:
        shape = (len(plans), num_clients)
        self._model, self._sgd, self._rate = model, sgd, rate
        self._starts, self._plans = starts, plans
        self._add: Callable = get_blas_funcs("axpy", dtype=starts.dtype)
        self._last = np.array([plan.steps for plan in plans])
        watched = any(plan.serves for plan in plans)
        self._first_to_go = 1 if watched else int(self._last.min())
        self._active = np.ones(shape, bool)
        self.clients, self._trials = np.arange(num_clients), np.arange(len(plans))
        self._models = np.repeat(starts[None], num_clients, axis=0)
        self._velocity = np.zeros_like(self._models) if sgd.momentum else None
        self._peaks = np.zeros(self._models.shape[:2], starts.dtype)
        self._first = True
        self.over = False
        self.result = Trained(
            updates=np.zeros((*shape, starts.shape[1]), starts.dtype),
            steps=np.zeros(shape, np.int64),
            loss=np.zeros(shape),
            largest_gradient=np.zeros(shape),
        )

    def step(self, batches: Iterator[Batch]) -> None:
        """One step of everyone, x = x - eta (gradient + lambda x)."""
        for who, x, y in batches:
            models, peaks = self._models[who], self._peaks[who]
            if self._first:
                self.result.loss[:, who] = self._model.loss(models, x, y).T
            gradient = self._gradient(models, x, y)
            if self._sgd.weight_decay:
                self._add(models.ravel(), gradient.ravel(), a=self._sgd.weight_decay)
            squares = np.matmul(gradient[..., None, :], gradient[..., None])[..., 0, 0]
            np.maximum(peaks, squares, out=peaks)
            if self._velocity is not None:
                velocity = self._velocity[who]
                velocity *= velocity.dtype.type(self._sgd.momentum)
                velocity += gradient
                gradient = velocity
            self._add(gradient.ravel(), models.ravel(), a=-self._rate)
        self._first = False

    def _gradient(self, models: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """The model's, in memory of its own and in the form that the products here rely on."""
        gradient = self._model.gradient(models, x, y)
        if gradient.shape != models.shape:
            raise ValueError(
                f"model = {self._model!r} gave a gradient of shape {gradient.shape} for parameters "
                f"of shape {models.shape}"
            )
        gradient = np.ascontiguousarray(gradient, models.dtype)
        return gradient.copy() if np.may_share_memory(gradient, models) else gradient

    def let_go(self, step: int) -> None:
        """Take the updates of those who serve or have done all their steps."""
        if step < self._first_to_go:
            return
        done = self._active & (step >= self._last)
        take = done.copy()
        for trial in self._trials.tolist():
            plan = self._plans[trial]
            if plan.serves is None:
                continue
            current = self.result.updates[trial].copy()
            current[self.clients] = self._update_of(trial)
            wild = ~moderate(current)  # nothing that a link could weigh: they stop
            current[wild] = 0
            serves = (plan.serves(step, current) | wild) & self._active[trial]
            done[trial] |= wild & self._active[trial]
            if plan.largest:
                take[trial] = serves | (done[trial] & (self.result.steps[trial] == 0))
            else:
                take[trial] |= serves
                done[trial] |= serves
        for trial in np.flatnonzero(take.any(axis=1)).tolist():
            chosen = take[trial]
            self.result.updates[trial, chosen] = self._update_of(trial)[chosen[self.clients]]
            self.result.steps[trial, chosen] = step
        if done.any():
            self._dismiss(done)

    def _update_of(self, trial: int) -> NDArray:
        """[clients still there, d]."""
        column = int(np.searchsorted(self._trials, trial))
        return self._models[:, column] - self._starts[trial]

    def _dismiss(self, done: NDArray[np.bool_]) -> None:
        """Clients and trials that are done altogether leave the array."""
        here = np.ix_(self._trials, self.clients)
        self.result.largest_gradient[done] = np.sqrt(self._peaks.T[done[here]])
        self._active &= ~done
        self.over = not self._active.any()
        clients, trials = self._active[here].any(axis=0), self._active[here].any(axis=1)
        if clients.all() and trials.all():
            return
        kept = np.ix_(clients, trials)
        self._models = np.ascontiguousarray(self._models[kept])
        self._peaks = self._peaks[kept]
        if self._velocity is not None:
            self._velocity = self._velocity[kept]
        self.clients, self._trials = self.clients[clients], self._trials[trials]
