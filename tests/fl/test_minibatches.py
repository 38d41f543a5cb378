"""Minibatches with and without replacement."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fl.minibatches import draw_places

SIZES = np.array([5, 7, 16])


def rngs_of(rng, count=3):
    return [np.random.default_rng(seed) for seed in rng.integers(2**32, size=count)]


def places(count, batch_size, replacement, rngs, sizes=SIZES):
    """Return the places [n, m, B] of at least ``count`` minibatches."""
    drawn, found = draw_places(np.asarray(sizes), batch_size, replacement, rngs), 0
    pieces = []
    while found < count:
        pieces.append(next(drawn))
        found += len(pieces[-1])
    return np.concatenate(pieces)[:count]


@pytest.mark.parametrize("batch_size", [1, 4, 5, 12])
def test_without_replacement_every_sample_comes_once_in_an_order(batch_size, rng):
    found = places(40, batch_size, False, rngs_of(rng))
    assert found.shape == (40, 3, batch_size)
    for client, size in enumerate(SIZES):
        sequence = found[:, client].ravel()
        whole = len(sequence) // size
        orders = sequence[: whole * size].reshape(whole, size)
        np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(size), (whole, 1)))
        assert len({tuple(order) for order in orders.tolist()}) > 1


def test_a_batch_larger_than_the_shard_goes_through_it_again(rng):
    (batch,) = places(1, 12, False, rngs_of(rng, 1), [5])[0]
    assert np.bincount(batch).sum() == 12
    assert np.bincount(batch).min() == 2
    assert np.bincount(batch).max() == 3


def test_without_replacement_orders_are_uniform(rng):
    """Each of the 6 orders of 3 samples as often as the others."""
    orders = places(3000, 3, False, rngs_of(rng, 1), [3])[:, 0]
    counts = np.unique(orders @ [9, 3, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert (np.abs(counts - 500) < 5 * np.sqrt(3000 / 6 * 5 / 6)).all()


def test_with_replacement_places_are_uniform_and_may_repeat(rng):
    for rngs in (rng, rngs_of(rng)):
        found = places(2000, 4, True, rngs)
        for client, size in enumerate(SIZES):
            counts = np.bincount(found[:, client].ravel(), minlength=size)
            assert len(counts) == size
            expected = 8000 / size
            assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
        assert any(len(set(batch)) < 4 for batch in found[:, 0].tolist())


@pytest.mark.parametrize("replacement", [True, False])
def test_a_client_draws_the_same_in_any_company(replacement, rng):
    seeds = rng.integers(2**32, size=3)

    def drawn(*clients):
        rngs = [np.random.default_rng(seeds[client]) for client in clients]
        return places(50, 4, replacement, rngs, SIZES[list(clients)])

    np.testing.assert_array_equal(drawn(0, 1, 2)[:, 1:], drawn(1, 2))


def test_minibatches_go_on_for_ever(rng):
    drawn = islice(draw_places(SIZES, 2, False, rngs_of(rng)), 5)
    assert sum(len(each) for each in drawn) == 5 * 16
