"""Minibatches are uniform over the shard of a client, however they are gathered."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    LogisticRegression,
    Plan,
    Problem,
    Sgd,
)
from fl.client_data import ClientData
from fl.local import train_locally


def test_minibatches_are_uniform_over_the_shard(data, rng):
    shards = [np.array([3, 5, 8]), np.arange(10, 20)]
    model = LogisticRegression(12, 4)
    clients = ClientData.of(Problem(model, data, shards))
    clients.features = np.arange(len(data.y_train))[:, None]
    seen = [[], []]
    for _, batches_of in zip(range(600), clients.batches(50, rng), strict=False):
        for who, x, y in batches_of(np.arange(2)):
            for place, samples in zip(range(*who.indices(2)), x[..., 0], strict=True):
                seen[place].append(samples.copy())
            np.testing.assert_array_equal(y, data.y_train[x[..., 0]])
    for shard, samples in zip(shards, seen, strict=True):
        counts = np.bincount(np.concatenate(samples), minlength=400)
        assert counts.sum() == counts[shard].sum() == 30000
        expected = 30000 / len(shard)
        assert (np.abs(counts[shard] - expected) < 5 * np.sqrt(expected)).all()


def test_large_minibatches_are_gathered_in_tiles(data, shards, rng):
    """The number of features gathered at once makes no difference."""
    import fl.client_data

    model = LogisticRegression(12, 4)
    clients = ClientData.of(Problem(model, data, shards))
    starts = rng.standard_normal((2, model.size)).astype(np.float32)
    plans = [Plan(np.full(len(shards), 4))] * 2

    def updates():
        rng = np.random.default_rng(1)
        return train_locally(model, clients, Sgd(), 0.1, starts, plans, rng).updates

    whole = updates()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fl.client_data, "GATHERED_AT_ONCE", 1)
        np.testing.assert_allclose(updates(), whole, atol=1e-6)


def test_the_samples_of_some_clients(data):
    """Only these shards are drawn, in this order."""
    asked = []

    class Lazy(list):
        def __getitem__(self, client):
            asked.append(client)
            return super().__getitem__(client)

    shards = Lazy([np.array([3, 5]), np.array([8, 9, 10]), np.array([0])])
    clients = ClientData(data.x_train, data.y_train, shards)
    some = clients.of_clients(np.array([2, 1]))
    assert asked == [2, 1]
    assert some.sizes.tolist() == [1, 3]
    assert some.num_clients == 2
    for _, batches_of in zip(range(3), some.batches(4, np.random.default_rng(1)), strict=False):
        ((_, x, y),) = batches_of(np.arange(2))
        np.testing.assert_array_equal(x[0], np.tile(data.x_train[0], (4, 1)))
        assert set(y[1]) <= set(data.y_train[[8, 9, 10]])


def test_each_client_draws_from_its_own_generator(data):
    """In the order of the clients that are present."""
    shards = [np.arange(50), np.arange(50, 100), np.arange(100, 150)]
    whole = ClientData(np.arange(400)[:, None], data.y_train, shards)
    for replacement in (True, False):

        def drawn(*clients, replacement=replacement):
            some = whole.of_clients(np.array(clients))
            rngs = [np.random.default_rng(client) for client in clients]
            batches_of = next(iter(some.batches(8, rngs, replacement)))
            ((_, x, _),) = batches_of(np.arange(len(clients)))
            return x[..., 0]

        np.testing.assert_array_equal(drawn(0, 1, 2)[1:], drawn(1, 2))
