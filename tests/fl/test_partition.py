"""Partitions: which client holds which samples, each at most once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from fl import load_dataset, partition_by_label, partition_dirichlet, partition_unbalanced
from fl.partition import client_weights


def check_disjoint(shards, samples):
    together = np.concatenate(shards)
    assert len(np.unique(together)) == len(together)
    assert together.min() >= 0
    assert together.max() < samples


@pytest.mark.parametrize("p", [1, 2, 3, 5, 10])
def test_as_in_the_paper(p, rng):
    labels = load_dataset("mnist").y_train
    shards = partition_by_label(labels, 10, p, rng)
    check_disjoint(shards, len(labels))
    counts = np.array([np.bincount(labels[shard], minlength=10) for shard in shards])
    size = 5421 // p  # of the rarest digit, 5
    assert set(counts[counts > 0]) == {size}
    assert ((counts > 0).sum(axis=0) == p).all()  # each label on p clients
    assert ((counts > 0).sum(axis=1) == p).all()  # p labels a client
    np.testing.assert_allclose(client_weights(shards), 0.1)


@pytest.mark.parametrize(
    ("clients", "p"), [(5, 2), (5, 3), (7, 2), (15, 1), (20, 1), (23, 3), (100, 2), (10, 10)]
)
def test_any_number_of_clients(clients, p, rng):
    labels = np.repeat(np.arange(10), 200)
    shards = partition_by_label(labels, clients, p, rng)
    check_disjoint(shards, len(labels))
    counts = np.array([np.bincount(labels[shard], minlength=10) for shard in shards])
    assert len(set(counts[counts > 0])) == 1
    assert ((counts > 0).sum(axis=1) == p).all()
    holders = (counts > 0).sum(axis=0)
    assert holders.min() >= clients * p // 10
    assert holders.max() <= -(-clients * p // 10)


def test_draws_from_rng():
    labels = np.repeat(np.arange(10), 50)
    one, same, other = (
        partition_by_label(labels, 10, 2, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("concentration", [0.1, 1.0, 100.0])
def test_dirichlet_uses_all(concentration, rng):
    labels = np.repeat(np.arange(10), 300)
    shards = partition_dirichlet(labels, 10, concentration, rng)
    check_disjoint(shards, len(labels))
    assert sum(map(len, shards)) == len(labels)
    assert min(map(len, shards)) > 0


def test_dirichlet_shares_have_their_variance(rng):
    """A share of Dirichlet(c, ..., c) over m clients has variance (1/m)(1 - 1/m) / (m c + 1)."""
    labels = np.repeat(np.arange(200), 1000)
    clients, concentration = 5, 0.7
    shards = partition_dirichlet(labels, clients, concentration, rng)
    shares = np.array([np.bincount(labels[shard], minlength=200) for shard in shards]) / 1000
    squares = np.square(shares[0] - 1 / clients)  # one client's, independent over labels
    expected = (1 / clients) * (1 - 1 / clients) / (clients * concentration + 1)
    # a share has the law Beta(c, (m - 1) c), whose fourth central moment follows from its kurtosis
    kurtosis = float(beta.stats(concentration, (clients - 1) * concentration, moments="k"))
    deviation = expected * np.sqrt(kurtosis + 2)
    assert abs(squares.mean() - expected) < 5 * deviation / np.sqrt(200)


def test_unbalanced(rng):
    labels = np.arange(1000) % 10
    shards = partition_unbalanced(labels, [1, 2, 7], rng)
    check_disjoint(shards, 1000)
    assert [len(shard) for shard in shards] == [100, 200, 700]
    np.testing.assert_allclose(client_weights(shards), [0.1, 0.2, 0.7])


LABELS = np.repeat(np.arange(10), 10)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            lambda rng: partition_by_label(LABELS, 10, 11, rng),
            "labels_per_client must be at most 10, .*labels, got 11",
        ),
        (lambda rng: partition_by_label(LABELS, 10, 0, rng), "labels_per_client must .* got 0"),
        (lambda rng: partition_by_label(LABELS, 0, 1, rng), "num_clients must .* got 0"),
        (
            lambda rng: partition_by_label(LABELS, 101, 1, rng),
            "num_clients must be at most 100, .*samples, got 101",
        ),
        (lambda rng: partition_by_label(LABELS, 20, 10, rng), "share the 10 samples of label"),
        (
            lambda rng: partition_by_label(LABELS, 4, 2, rng),
            "must be at least 10, so that each label is on some client, got 8",
        ),
        (
            lambda rng: partition_by_label(LABELS[None], 4, 2, rng),
            "labels must be one label per sample, got .1, 100.",
        ),
        (lambda rng: partition_by_label(LABELS, 2.5, 2, rng), "num_clients must .* got 2.5"),
        (lambda rng: partition_dirichlet(LABELS, 101, 1.0, rng), "num_clients must .* got 101"),
        (lambda rng: partition_dirichlet(LABELS, 5, 0.0, rng), "concentration must .* got 0.0"),
        (lambda rng: partition_dirichlet(LABELS, 5, np.nan, rng), "concentration must .* got nan"),
        (
            lambda rng: partition_dirichlet(LABELS, 90, 0.01, rng),
            "concentration must be larger, .* got 0.01",
        ),
        (lambda rng: partition_unbalanced(LABELS, [], rng), "shares must be one .*, got .."),
        (lambda rng: partition_unbalanced(LABELS, [1, 0], rng), "shares must .* got .1, 0."),
        (lambda rng: partition_unbalanced(LABELS, [1, np.inf], rng), "shares must .* got .1, inf."),
        (
            lambda rng: partition_unbalanced(LABELS, [1, 1e-6], rng),
            "shares must be large enough to give every client one of",
        ),
        (
            lambda rng: partition_dirichlet(LABELS, 5, 1.0, 3),
            "rng must be a generator such as .*, got 3",
        ),
    ],
)
def test_impossible_requests(request_, message, rng):
    with pytest.raises(ValueError, match=message):
        request_(rng)
