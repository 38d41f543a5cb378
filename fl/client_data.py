"""The training samples of each client, gathered into minibatches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from fl.minibatches import Rngs, draw_places
from fl.models import as_numbers
from fl.partition import Shards
from fl.problem import Problem

GATHERED_AT_ONCE = 400_000  # features, few enough to stay in the cache

Batch = tuple[slice, NDArray, NDArray]
"""Which of the requested clients, their features [m, B, ...] and labels [m, B]."""


class ClientData:
    """The training samples of each client, in the form that the model takes.

    Parameters
    ----------
    features : ndarray, [n, ...]
        All training samples.
    labels : ndarray of int64, [n]
        Their labels.
    shards : sequence of ndarray of int64
        The samples of each client.
    """

    def __init__(self, features: NDArray, labels: NDArray[np.int64], shards: Shards) -> None:
        self.features, self.labels, self.shards = features, labels, shards
        self.num_clients = len(shards)

    @classmethod
    def of(cls, problem: Problem) -> ClientData:
        """Return the samples of all clients; the model computes the features once."""
        data = problem.data
        return cls(problem.model.features(data.x_train), data.y_train, problem.shards)

    def of_clients(self, clients: NDArray[np.int64]) -> ClientData:
        """Return the samples of some clients, in that order."""
        shards = [self.shards[client] for client in clients.tolist()]
        return ClientData(self.features, self.labels, shards)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """[m], number of samples of each client."""
        return np.array([len(shard) for shard in self.shards])

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The shards as rows of equal length, for one look-up; the padding is never drawn."""
        rows = np.zeros((self.num_clients, self.sizes.max()), np.int64)
        for row, shard in zip(rows, self.shards, strict=True):
            row[: len(shard)] = shard
        return rows

    def batches(
        self, batch_size: int | None, rngs: Rngs, replacement: bool = True
    ) -> Iterator[Callable[[NDArray[np.int64]], Iterator[Batch]]]:
        """Yield, for every local step, a function that iterates over the batches of given clients.

        What is drawn depends on the generators alone, not on which clients are still training. The
        features are valid until the next batch is requested: they share one buffer.

        Parameters
        ----------
        batch_size : int or None
            Samples per batch; None for all samples of the client.
        rngs : numpy.random.Generator, or one per client
            Source of the draws; without replacement, one per client.
        replacement : bool
            Whether samples are drawn with replacement.
        """
        if batch_size is None:
            while True:
                yield self._everything
        client = np.arange(self.num_clients)[:, None]
        gather = _Gather(self.features, batch_size)
        for places in draw_places(self.sizes, batch_size, replacement, rngs):
            samples = self._rows[client, places]
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
