"""Local SGD: all clients at once equal one at a time; steps follow the plan."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Cotaf,
    LogisticRegression,
    Plan,
    Problem,
    Sgd,
    partition_dirichlet,
    quadratic_problem,
    train,
    train_together,
)
from fl.client_data import ClientData
from fl.local import LARGEST, train_locally
from fl.partition import client_weights
from links import FadingLink, IdealLink
from otafl._base.validation import OutOfRangeError
from tests.fl.problems import blobs, two_parabolas

CLIENTS = 5


@pytest.fixture
def data(rng):
    return blobs(rng)


@pytest.fixture
def shards(data, rng):
    return partition_dirichlet(data.y_train, CLIENTS, 1.0, rng)


def by_hand(model, data, shard, minibatches, start, sgd, rate, steps, mu=0.0, drift=0.0):
    """One client, one run, one step after another."""
    features = model.features(data.x_train)
    current, velocity = start.astype(np.float64), np.zeros(len(start))
    largest = 0.0
    for samples in minibatches[:steps]:
        held = shard if sgd.batch_size is None else samples
        params = current.astype(np.float32)[None, None]
        gradient = model.gradient(params, features[held][None], data.y_train[held][None])[0, 0]
        gradient = gradient + sgd.weight_decay * current + mu * (current - start) + drift
        largest = max(largest, np.linalg.norm(gradient))
        velocity = sgd.momentum * velocity + gradient
        current = current - rate * velocity
    return current - start, largest


def minibatches_of(clients, sgd, seed, count):
    """Return the samples on which each client trains, step by step."""
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
def test_all_at_once_equals_one_at_a_time(data, shards, rng, batch_size, decay, momentum):
    model = LogisticRegression(12, 4)  # smooth: at a kink, rounding errors would grow
    sgd = Sgd(0.1, batch_size, decay, momentum)
    clients = ClientData.of(Problem(model, data, shards))
    starts = rng.standard_normal((3, model.size)).astype(np.float32)
    steps = rng.integers(1, 20, (3, CLIENTS))
    plans = [Plan(row) for row in steps]
    trained = train_locally(model, clients, sgd, 0.1, starts, plans, np.random.default_rng(7))
    np.testing.assert_array_equal(trained.steps, steps)
    drawn = minibatches_of(clients, sgd, 7, 20)
    for run, start in enumerate(starts):
        for client, shard in enumerate(shards):
            update, largest = by_hand(
                model, data, shard, drawn[client], start, sgd, 0.1, steps[run, client]
            )
            np.testing.assert_allclose(trained.updates[run, client], update, atol=2e-5)
            assert trained.largest_gradient[run, client] == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize("batch_size", [16, None])
@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize("everyone", [True, False], ids=["one start", "one per client"])
def test_what_plans_add_to_gradients(data, shards, rng, batch_size, momentum, everyone):
    """Each run its own, also after other runs and clients have finished."""
    model = LogisticRegression(12, 4)
    sgd = Sgd(0.1, batch_size, weight_decay=0.1, momentum=momentum)
    clients = ClientData.of(Problem(model, data, shards))
    shape = (4, model.size) if everyone else (4, CLIENTS, model.size)
    starts = rng.standard_normal(shape).astype(np.float32)
    steps = rng.integers(1, 15, (4, CLIENTS))
    mus = (0.5, 0.0, 0.0, 2.0)
    drifts = [None, None, *rng.standard_normal((2, CLIENTS, model.size)).astype(np.float32)]

    def trained(plans):
        return train_locally(model, clients, sgd, 0.1, starts, plans, np.random.default_rng(7))

    added = [
        Plan(row, proximal=mu, drift=drift)
        for row, mu, drift in zip(steps, mus, drifts, strict=True)
    ]
    result, plain = trained(added), trained([Plan(row) for row in steps])
    np.testing.assert_array_equal(result.updates[1], plain.updates[1])
    drawn = minibatches_of(clients, sgd, 7, 15)
    for run, client in np.ndindex(4, CLIENTS):
        start = starts[run] if everyone else starts[run, client]
        drift = 0.0 if drifts[run] is None else drifts[run][client]
        update, largest = by_hand(
            model, data, shards[client], drawn[client], start, sgd, 0.1, steps[run, client],
            mus[run], drift,
        )  # fmt: skip
        np.testing.assert_allclose(result.updates[run, client], update, atol=5e-5)
        assert result.largest_gradient[run, client] == pytest.approx(largest, rel=1e-3)


def test_minibatches_do_not_depend_on_other_clients(data, shards, rng):
    """A client's update is the same however long the others train."""
    model = LogisticRegression(12, 4)
    clients = ClientData.of(Problem(model, data, shards))
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


def test_plans_that_watch():
    """F = 1/2 (x - 1)^2 and (x - 3)^2 at learning rate 1/4.

    The updates after 1, 2, 3 steps are 0.25, 0.4375, 0.578125 and 1.5, 2.25, 2.625.
    """
    problem = two_parabolas()
    clients = ClientData.of(problem)
    asked = []

    def accept(step, updates):
        asked.append((step, updates[:, 0].tolist()))
        return updates[:, 0] / step < 1.2

    def run(**options):
        plan = Plan(np.array([3, 3]), **options)
        sgd = Sgd(0.25, None)
        rng = np.random.default_rng(1)
        trained = train_locally(problem.model, clients, sgd, 0.25, np.zeros((1, 1)), [plan], rng)
        return trained.steps[0].tolist(), trained.updates[0, :, 0].tolist()

    assert run() == ([3, 3], [0.578125, 2.625])
    assert run(accept=accept) == ([1, 2], [0.25, 2.25])
    assert asked == [(1, [0.25, 1.5]), (2, [0.25, 2.25])]
    assert run(accept=accept, largest=True) == ([3, 3], [0.578125, 2.625])

    def early_only(step, updates):
        return np.array([step < 2, step == 2])

    assert run(accept=early_only, largest=True) == ([1, 2], [0.25, 2.25])
    never = run(accept=lambda step, updates: np.zeros(2, bool))
    assert never == run(accept=lambda step, updates: np.zeros(2, bool), largest=True)
    assert never == ([3, 3], [0.578125, 2.625])


def test_a_plan_sees_what_clients_that_have_finished_will_send():
    """Beside a run whose clients train on, client 1 remains at 0.25 after its only step."""
    problem = two_parabolas()
    asked = []

    def accept(step, updates):
        asked.append(updates[:, 0].tolist())
        return np.array([True, step == 3])

    steps = np.array([3, 3])
    trained = train_locally(
        problem.model, ClientData.of(problem), Sgd(0.25, None), 0.25, np.zeros((2, 1)),
        [Plan(steps, accept=accept), Plan(steps)], np.random.default_rng(1),
    )  # fmt: skip
    assert asked == [[0.25, 1.5], [0.25, 2.25], [0.25, 2.625]]
    assert trained.updates[:, :, 0].tolist() == [[0.25, 2.625], [0.578125, 2.625]]


@pytest.mark.parametrize("seed", [0, 1])
def test_power_control_by_reports_does_not_depend_on_other_runs(seed):
    """MMSE control for the norms of all clients, those that have finished included.

    Clients differ widely, so that some finish long before others.
    """
    hessians = np.eye(4) * np.array([0.5, 1.0, 2.0, 4.0])[:, None, None]
    problem = quadratic_problem(hessians, 3 * np.random.default_rng(seed).standard_normal((4, 4)))
    link = FadingLink(snr_db=40.0, control="mmse", variances="reported")
    options = {"rounds": 6, "steps": 12, "sgd": Sgd(0.1, None), "seed": seed}
    alone = train(Acpc(G=3.0), link, problem, **options)
    assert len(np.unique(alone["steps"])) > 3
    runs = [(Acpc(G=3.0), link), (Cotaf(), IdealLink())]
    together, _ = train_together(runs, problem, **options)
    np.testing.assert_array_equal(together["steps"], alone["steps"])
    np.testing.assert_allclose(together.model, alone.model, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("largest", [False, True])
def test_diverging_clients_stop(largest):
    """A plan never sees updates that no link could measure."""
    problem = two_parabolas()
    clients = ClientData.of(problem)

    def accept(step, updates):
        assert np.abs(updates).max() <= LARGEST
        return np.zeros(2, bool)

    plan = Plan(np.array([1000, 1000]), accept=accept, largest=largest)
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
    clients = ClientData.of(Problem(model, data, shards))
    starts = rng.standard_normal((2, model.size)).astype(np.float32)
    plans = [Plan(np.full(CLIENTS, 3))] * 2
    trained = train_locally(
        model, clients, Sgd(0.1, None), 0.1, starts, plans, np.random.default_rng(1)
    )
    everything = np.concatenate(shards)
    held = model.features(data.x_train)[everything]
    loss, _ = model.test(starts, held, data.y_train[everything])
    np.testing.assert_allclose(trained.loss @ client_weights(shards), loss, rtol=1e-5)


class OwnModel(LogisticRegression):
    """A user-defined model, whose gradient is a given function."""

    def __init__(self, gradient):
        super().__init__(12, 4)
        object.__setattr__(self, "given", gradient)

    def gradient(self, params, x, y):
        return self.given(params)


def test_gradients_of_user_defined_models(data, shards):
    """That of 1/2 ||x||^2 is the model: the same array, or a copy in another precision.

    x_1 = x - eta (x + lambda x)
    """
    for gradient in (lambda params: params, lambda params: params.astype(np.float64)):
        model = OwnModel(gradient)
        clients = ClientData.of(Problem(model, data, shards))
        starts = np.ones((2, model.size), np.float32)
        plans = [Plan(np.ones(CLIENTS, int)), Plan(np.arange(1, CLIENTS + 1))]
        rng = np.random.default_rng(1)
        trained = train_locally(model, clients, Sgd(0.1, 5, 0.5), 0.1, starts, plans, rng)
        for plan, updates in zip(plans, trained.updates, strict=True):
            expected = np.repeat(0.85 ** plan.steps[:, None] - 1, model.size, axis=1)
            np.testing.assert_allclose(updates, expected, rtol=1e-5)


def test_gradients_of_another_shape_are_refused(data, shards):
    model = OwnModel(lambda params: params[:, :1])
    clients = ClientData.of(Problem(model, data, shards))
    starts = np.ones((2, model.size), np.float32)
    plans = [Plan(np.ones(CLIENTS, int))] * 2
    with pytest.raises(
        ValueError, match="gradient must return an array of shape .5, 2, 52., got .5, 1, 52."
    ):
        train_locally(model, clients, Sgd(), 0.1, starts, plans, np.random.default_rng(1))


def test_a_link_that_refuses_to_measure_an_update_ends_the_training():
    """The run goes on to aggregation, which stops it; nothing is raised here."""
    problem = two_parabolas()
    asked = []

    def accept(step, updates):
        asked.append(step)
        raise OutOfRangeError("signals", "smaller", 1e20)

    steps = np.full(problem.num_clients, 5)
    start = problem.initial_model(np.random.default_rng(0))[None]
    trained = train_locally(
        problem.model, ClientData.of(problem), Sgd(0.1, None), 0.1, start,
        [Plan(steps, accept=accept)], np.random.default_rng(0),
    )  # fmt: skip
    assert asked == [1]
    np.testing.assert_array_equal(trained.steps, 1)
    assert np.isfinite(trained.updates).all()
    assert trained.updates.any()


def test_each_client_may_begin_elsewhere(data, shards, rng):
    """starts [S, m, d]: updates are differences from where each client began."""
    model = LogisticRegression(12, 4)
    clients = ClientData.of(Problem(model, data, shards))
    starts = rng.standard_normal((2, CLIENTS, model.size)).astype(np.float32)
    plans = [Plan(np.arange(1, CLIENTS + 1))] * 2

    def updates(starts, plans):
        rng = np.random.default_rng(7)
        return train_locally(model, clients, Sgd(0.1, 16), 0.1, starts, plans, rng).updates

    together = updates(starts, plans)
    for client in range(CLIENTS):
        alone = updates(starts[:, client], plans)
        np.testing.assert_allclose(together[:, client], alone[:, client], atol=1e-5)
