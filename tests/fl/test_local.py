"""Local SGD: all at once is one at a time; steps, rates and batches are what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Diminishing, LogisticRegression, Plan, Sgd, partition_dirichlet
from fl.local import LARGEST, ClientData, train_locally
from fl.partition import weights_of
from tests.fl.problems import blobs, two_parabolas

CLIENTS = 5


@pytest.fixture
def data(rng):
    return blobs(rng)


@pytest.fixture
def shards(data, rng):
    return partition_dirichlet(data.y_train, CLIENTS, 1.0, rng)


def by_hand(model, data, shard, minibatches, start, sgd, rate, steps):
    """One client, one trial, one step after the other."""
    features = model.features(data.x_train)
    current, velocity = start.astype(np.float64), np.zeros(len(start))
    largest = 0.0
    for samples in minibatches[:steps]:
        held = shard if sgd.batch_size is None else samples
        params = current.astype(np.float32)[None, None]
        gradient = model.gradient(params, features[held][None], data.y_train[held][None])[0, 0]
        gradient = gradient + sgd.weight_decay * current
        largest = max(largest, np.linalg.norm(gradient))
        velocity = sgd.momentum * velocity + gradient
        current = current - rate * velocity
    return current - start, largest


def minibatches_of(clients, sgd, seed, count):
    """What each client is given, step by step: which samples it trains on."""
    own = ClientData.__new__(ClientData)
    own.__dict__.update(clients.__dict__)
    own.features = np.arange(len(clients.labels))[:, None]  # every sample shows its index
    drawn = []
    for _, batches_of in zip(
        range(count), own.batches(sgd.batch_size, np.random.default_rng(seed)), strict=False
    ):
        drawn.append([x[0, :, 0].copy() for _, x, _ in _one_by_one(batches_of)])
    return [list(of_client) for of_client in zip(*drawn, strict=True)]


def _one_by_one(batches_of):
    for client in range(CLIENTS):
        yield from batches_of(np.array([client]))


@pytest.mark.parametrize("batch_size", [1, 16, None])
@pytest.mark.parametrize(("decay", "momentum"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.9), (0.1, 0.5)])
def test_all_at_once_is_one_at_a_time(data, shards, rng, batch_size, decay, momentum):
    model = LogisticRegression(12, 4)  # without kinks, at which rounding would part the ways
    sgd = Sgd(0.1, batch_size, decay, momentum)
    clients = ClientData(model, data, shards)
    starts = rng.standard_normal((3, model.size)).astype(np.float32)
    steps = rng.integers(1, 20, (3, CLIENTS))
    plans = [Plan(row) for row in steps]
    trained = train_locally(model, clients, sgd, 0.1, starts, plans, np.random.default_rng(7))
    np.testing.assert_array_equal(trained.steps, steps)
    drawn = minibatches_of(clients, sgd, 7, 20)
    for trial, start in enumerate(starts):
        for client, shard in enumerate(shards):
            update, largest = by_hand(
                model, data, shard, drawn[client], start, sgd, 0.1, steps[trial, client]
            )
            np.testing.assert_allclose(trained.updates[trial, client], update, atol=2e-5)
            assert trained.largest_gradient[trial, client] == pytest.approx(largest, rel=1e-3)


def test_minibatches_are_uniform_over_the_shard(data, rng):
    shards = [np.array([3, 5, 8]), np.arange(10, 20)]
    model = LogisticRegression(12, 4)
    clients = ClientData(model, data, shards)
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


def test_minibatches_do_not_depend_on_who_trains(data, shards, rng):
    """A client's update is the same whether others train longer, or with it at all."""
    model = LogisticRegression(12, 4)
    clients = ClientData(model, data, shards)
    starts = np.zeros((1, model.size), np.float32)
    few = np.array([3, 3, 3, 3, 3])
    many = np.array([3, 1, 40, 7, 25])
    updates = [
        train_locally(
            model, clients, Sgd(), 0.1, starts, [Plan(steps)], np.random.default_rng(1)
        ).updates[0]
        for steps in (few, many)
    ]
    np.testing.assert_array_equal(updates[0][0], updates[1][0])
    assert (updates[0][1:] != updates[1][1:]).any(axis=1).all()


def test_large_minibatches_come_in_tiles(data, shards, rng):
    """More features than are gathered at once make no difference."""
    import fl.local

    model = LogisticRegression(12, 4)
    clients = ClientData(model, data, shards)
    starts = rng.standard_normal((2, model.size)).astype(np.float32)
    plans = [Plan(np.full(CLIENTS, 4))] * 2

    def updates():
        rng = np.random.default_rng(1)
        return train_locally(model, clients, Sgd(), 0.1, starts, plans, rng).updates

    whole = updates()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fl.local, "GATHERED_AT_ONCE", 1)
        np.testing.assert_allclose(updates(), whole, atol=1e-6)


def test_plans_that_watch():
    """On F = 1/2 (x - 1)^2 and (x - 3)^2 with rate 1/4: updates after 1, 2, 3 steps are
    0.25, 0.4375, 0.578125 and 1.5, 2.25, 2.625."""
    problem = two_parabolas()
    clients = ClientData(problem.model, problem.data, problem.shards)
    asked = []

    def serves(step, updates):
        asked.append((step, updates[:, 0].tolist()))
        return updates[:, 0] / step < 1.2

    def run(**options):
        plan = Plan(np.array([3, 3]), **options)
        sgd = Sgd(0.25, None)
        rng = np.random.default_rng(1)
        trained = train_locally(problem.model, clients, sgd, 0.25, np.zeros((1, 1)), [plan], rng)
        return trained.steps[0].tolist(), trained.updates[0, :, 0].tolist()

    assert run() == ([3, 3], [0.578125, 2.625])
    assert run(serves=serves) == ([1, 2], [0.25, 2.25])
    assert asked == [(1, [0.25, 1.5]), (2, [0.25, 2.25])]
    assert run(serves=serves, largest=True) == ([3, 3], [0.578125, 2.625])

    def early_only(step, updates):
        return np.array([step < 2, step == 2])

    assert run(serves=early_only, largest=True) == ([1, 2], [0.25, 2.25])
    never = run(serves=lambda step, updates: np.zeros(2, bool))
    assert never == run(serves=lambda step, updates: np.zeros(2, bool), largest=True)
    assert never == ([3, 3], [0.578125, 2.625])


@pytest.mark.parametrize("largest", [False, True])
def test_who_diverges_stops(largest):
    """No plan is asked about updates that no link could weigh."""
    problem = two_parabolas()
    clients = ClientData(problem.model, problem.data, problem.shards)

    def serves(step, updates):
        assert np.abs(updates).max() <= LARGEST
        return np.zeros(2, bool)

    plan = Plan(np.array([1000, 1000]), serves=serves, largest=largest)
    with np.errstate(over="ignore", invalid="ignore"):
        trained = train_locally(
            problem.model,
            clients,
            Sgd(100.0, None),
            100.0,
            np.zeros((1, 1)),
            [plan],
            np.random.default_rng(1),
        )
    assert (np.abs(trained.updates) > LARGEST).all()
    assert (trained.steps < 20).all()


def test_first_loss_is_that_of_the_start(data, shards, rng):
    model = LogisticRegression(12, 4)
    clients = ClientData(model, data, shards)
    starts = rng.standard_normal((2, model.size)).astype(np.float32)
    plans = [Plan(np.full(CLIENTS, 3))] * 2
    trained = train_locally(
        model, clients, Sgd(0.1, None), 0.1, starts, plans, np.random.default_rng(1)
    )
    everything = np.concatenate(shards)
    held = model.features(data.x_train)[everything]
    loss, _ = model.test(starts, held, data.y_train[everything])
    np.testing.assert_allclose(trained.loss @ weights_of(shards), loss, rtol=1e-5)


class OwnModel(LogisticRegression):
    """A user's, with its gradient given by a function."""

    def __init__(self, gradient):
        super().__init__(12, 4)
        object.__setattr__(self, "given", gradient)

    def gradient(self, params, x, y):
        return self.given(params)


def test_gradients_of_users_are_taken_as_they_are(data, shards):
    """Here of 1/2 ||x||^2, which is the model itself, in its own memory, and in another precision.

    x_1 = x - eta (x + lambda x)
    """
    for gradient in (lambda params: params, lambda params: params.astype(np.float64)):
        model = OwnModel(gradient)
        clients = ClientData(model, data, shards)
        starts = np.ones((2, model.size), np.float32)
        plans = [Plan(np.ones(CLIENTS, int)), Plan(np.arange(1, CLIENTS + 1))]
        rng = np.random.default_rng(1)
        trained = train_locally(model, clients, Sgd(0.1, 5, 0.5), 0.1, starts, plans, rng)
        for plan, updates in zip(plans, trained.updates, strict=True):
            expected = np.repeat(0.85 ** plan.steps[:, None] - 1, model.size, axis=1)
            np.testing.assert_allclose(updates, expected, rtol=1e-5)


def test_gradients_of_another_shape_are_refused(data, shards):
    model = OwnModel(lambda params: params[:, :1])
    clients = ClientData(model, data, shards)
    starts = np.ones((2, model.size), np.float32)
    plans = [Plan(np.ones(CLIENTS, int))] * 2
    with pytest.raises(ValueError, match="gave a gradient of shape .5, 1, 52. for parameters of"):
        train_locally(model, clients, Sgd(), 0.1, starts, plans, np.random.default_rng(1))


@pytest.mark.parametrize("steps", [[0, 1], [1.5, 2.0], 3])
def test_refused_plans(steps):
    with pytest.raises(ValueError, match="steps = .* is not allowed"):
        Plan(steps)


def test_plans_take_lists():
    assert Plan([1, 2]).steps.shape == (2,)


def test_rates():
    assert Sgd(0.3).rate_at(500) == 0.3
    falling = Sgd(Diminishing(0.8, rounds=10, power=0.5))
    assert [falling.rate_at(number) for number in (0, 30, 150)] == [0.8, 0.4, 0.2]
    assert Diminishing(1.0, rounds=1, power=1).at(9) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "rate = 0.0 is not allowed"),
        ({"rate": np.nan}, "rate = nan"),
        ({"rate": np.inf}, "rate = inf"),
        ({"rate": "fast"}, "rate = 'fast'"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"batch_size": 1.5}, "batch_size = 1.5"),
        ({"weight_decay": -1e-4}, "weight_decay = -0.0001"),
        ({"momentum": 1.0}, "momentum = 1.0"),
    ],
)
def test_refused_settings(options, message):
    with pytest.raises(ValueError, match=message):
        Sgd(**options)


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ([], "shards are empty"),
        ([[0, 1], []], "shards.1. of shape .0,."),
        ([[0, 400]], "shards.0. has indices beyond the 400 samples"),
        ([[0, -1]], "shards.0. has indices beyond"),
        ([[0, 1], [1, 2]], "a sample twice"),
        ([[0.5]], "shards.0. of shape .1,. and type float64"),
    ],
)
def test_refused_shards(shards, message, data):
    with pytest.raises(ValueError, match=message):
        ClientData(LogisticRegression(12, 4), data, [np.array(shard) for shard in shards])
