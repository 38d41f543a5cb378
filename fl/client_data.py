"""The training samples of each client, and the minibatches drawn from them.

A minibatch is drawn uniformly with replacement, so that its gradient is unbiased (Assumption 2 of
the paper). It depends on the round's generator alone, not on which clients are still training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fl.models import as_numbers
from fl.problem import Problem

GATHERED_AT_ONCE = 400_000  # features, few enough to stay in the cache
DRAWN_AT_ONCE = 16  # minibatches

Batch = tuple[slice, NDArray, NDArray]
"""Which of the requested clients, their features [m, B, ...] and labels [m, B]."""


class ClientData:
    """The training samples of each client, in the form that the model takes.

    Parameters
    ----------
    problem : Problem
        Its model computes the features once, from all samples.
    """

    def __init__(self, problem: Problem) -> None:
        self.features = problem.model.features(problem.data.x_train)
        self.labels = problem.data.y_train
        self.shards = problem.shards
        self.num_clients = problem.num_clients
        self._sizes = np.array([len(shard) for shard in self.shards])
        # Rows of equal length, so that one look-up serves all clients; the padding is never drawn.
        self._rows = np.zeros((self.num_clients, self._sizes.max()), np.int64)
        for row, shard in zip(self._rows, self.shards, strict=True):
            row[: len(shard)] = shard

    def batches(
        self, batch_size: int | None, rng: np.random.Generator
    ) -> Iterator[Callable[[NDArray[np.int64]], Iterator[Batch]]]:
        """Yield, for every local step, a function that iterates over the batches of given clients.

        The features are valid until the next batch is requested: they share one buffer.

        Parameters
        ----------
        batch_size : int or None
            Samples per batch; None for all samples of the client.
        rng : numpy.random.Generator
            Source of the draws.
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
        self, gather: _Gather, samples: NDArray, labels: NDArray, clients: NDArray
    ) -> Iterator[Batch]:
        """Yield batches of ``samples`` and ``labels`` [m, B], a few clients at a time."""
        if len(clients) < self.num_clients:
            samples, labels = samples[clients], labels[clients]
        tiles = -(-len(clients) // gather.num_clients)
        size = -(-len(clients) // tiles)
        for start in range(0, len(clients), size):
            tile = slice(start, start + size)
            yield tile, gather(samples[tile]), labels[tile]

    def _everything(self, clients: NDArray[np.int64]) -> Iterator[Batch]:
        """Yield all samples of each client, whose numbers may differ."""
        for place, client in enumerate(clients):
            yield slice(place, place + 1), *self.batch_of(self.shards[client])

    def batch_of(self, samples: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
        """Return the features [1, B, ...] and labels [1, B] of these samples."""
        return as_numbers(self.features[samples])[None], self.labels[samples][None]


class _Gather:
    """Gather the features of minibatches into one buffer, which stays in the cache."""

    def __init__(self, features: NDArray, batch_size: int) -> None:
        self._features = features
        self.num_clients = max(1, GATHERED_AT_ONCE // (batch_size * features[0].size))
        shape = (self.num_clients * batch_size, *features.shape[1:])
        self._rows = np.empty(shape, features.dtype)
        self._numbers = np.empty(shape, np.float32)

    def __call__(self, samples: NDArray[np.int64]) -> NDArray:
        """Return the features [m, B, ...] of samples [m, B]; valid until the next call."""
        rows = self._rows[: samples.size]
        np.take(self._features, samples.ravel(), axis=0, out=rows, mode="clip")
        numbers = rows
        if rows.dtype == np.uint8:
            numbers = self._numbers[: samples.size]
            np.copyto(numbers, rows)
        return numbers.reshape(*samples.shape, *rows.shape[1:])
