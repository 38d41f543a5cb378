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
