"""A-DSGD: sparse updates with memory, by hand, and over training runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import Adsgd, Cotaf, Deadline, Plan, RandomClients, Round, Sgd, train
from fl.adsgd import sparsified
from fl.projection import DctProjection
from links import GaussianLink, IdealLink, OfdmLink
from tests.fl.runs import OPTIONS, check_same


def one_round(algorithm, updates, weights, link=None, **state):
    """Aggregate given updates [m, d] from a model of zeros."""
    updates = np.asarray(updates, float)
    clients, size = updates.shape
    rng = np.random.default_rng(1)
    uplink = (link or IdealLink()).open(clients, algorithm.num_entries(size), rng)
    steps = np.ones(clients, int)
    current = Round(0, np.zeros(size), uplink, np.array(weights), steps, 0.1, **state)
    return algorithm.aggregate(current, Plan(steps), updates, steps)


def test_top_k_by_hand():
    vectors = np.array([[3.0, -5.0, 0.5, 4.0], [0.0, 1.0, -2.0, 0.1]])
    sparse, rest = sparsified(vectors, 2)
    np.testing.assert_array_equal(sparse, [[0, -5, 0, 4], [0, 1, -2, 0]])
    np.testing.assert_array_equal(rest, [[3, 0, 0.5, 0], [0, 0, 0, 0.1]])


def test_top_k_of_equal_entries():
    """Exactly k, whichever."""
    sparse, rest = sparsified(np.ones((3, 10)), 4)
    assert (np.count_nonzero(sparse, axis=1) == 4).all()
    np.testing.assert_array_equal(sparse + rest, np.ones((3, 10)))
    np.testing.assert_array_equal(sparsified(np.zeros((1, 3)), 1)[1], [[0, 0, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_lost(dtype, rng):
    """s_i + e_i = Delta_i + e_i exactly, entry by entry; k = d leaves no memory."""
    vectors = rng.standard_normal((5, 100)).astype(dtype)
    for k in (1, 30, 99):
        sparse, rest = sparsified(vectors, k)
        assert sparse.dtype == rest.dtype == dtype
        assert (sparse + rest == vectors).all()
        assert ((sparse == 0) | (rest == 0)).all()
        assert (np.count_nonzero(sparse, axis=1) == k).all()
    assert not sparsified(vectors, 100)[1].any()


def test_memory_by_hand():
    """Delta = (4, 1, 3) and k = 1: sends 4, then 3 + 3, then 1 + 1 + 1 + 4 with another update."""
    algorithm = Adsgd(entries=1.0, k=1, threshold=1e-3, iterations=200)
    updates = [[4.0, 1.0, 3.0]]
    first = one_round(algorithm, updates, [1.0])
    np.testing.assert_array_equal(first.device_state["memory"], [[0, 1, 3]])
    np.testing.assert_allclose(first.model, [4, 0, 0], atol=0.01)
    second = one_round(algorithm, updates, [1.0], device_state=first.device_state)
    np.testing.assert_array_equal(second.device_state["memory"], [[4, 2, 0]])
    np.testing.assert_allclose(second.model, [0, 0, 6], atol=0.01)
    third = one_round(algorithm, [[0.0, 5.0, 0.0]], [1.0], device_state=second.device_state)
    np.testing.assert_array_equal(third.device_state["memory"], [[4, 0, 0]])
    np.testing.assert_allclose(third.model, [0, 7, 0], atol=0.01)


def test_recovers_the_weighted_sum(rng):
    """alpha = 1/4, 3/4: the sum of two sparse updates, exactly without noise, from n = d/2."""
    updates = np.zeros((2, 400))
    updates[0, rng.permutation(400)[:10]] = rng.choice([-4.0, 4.0], 10)
    updates[1, rng.permutation(400)[:10]] = rng.choice([-1.0, 1.0], 10)
    for projection in ("dct", "gaussian"):
        algorithm = Adsgd(k=10, iterations=100, projection=projection)
        outcome = one_round(algorithm, updates, [0.25, 0.75])
        np.testing.assert_allclose(outcome.model, updates.T @ [0.25, 0.75], atol=1e-6)
        assert not outcome.device_state["memory"].any()


def test_what_is_sent(rng):
    """beta alpha_i A s_i with the largest beta: the largest of their energies is P."""
    updates = rng.standard_normal((3, 50))
    weights = np.array([0.2, 0.3, 0.5])
    link = GaussianLink(snr_db=np.inf, power=2.0)
    outcome = one_round(Adsgd(entries=20, k=5, projection_seed=9), updates, weights, link)
    sparse = sparsified(updates, 5)[0]
    signals = weights[:, None] * DctProjection(20, 50, 9).forward(sparse)
    norms = np.linalg.norm(signals, axis=1)
    assert outcome.gain == pytest.approx(np.sqrt(2.0) / norms.max(), rel=1e-5)
    np.testing.assert_allclose(outcome.reception.energy[:, 0], (outcome.gain * norms) ** 2)
    np.testing.assert_allclose(outcome.reception.total, signals.sum(axis=0), atol=1e-6)


def test_number_of_entries():
    assert Adsgd(entries=0.25).num_entries(7850) == 1962
    assert Adsgd(entries=800).num_entries(7850) == 800
    assert Adsgd(entries=1.0).num_entries(7850) == 7850
    assert Adsgd(entries=1).num_entries(7850) == 1
    assert Adsgd(entries=0.001).num_entries(10) == 1
    assert Adsgd(entries=0.29).num_entries(100) == 29


def test_everything_sent_is_cotaf(problem):
    """n = k = d and a vanishing threshold: A is orthogonal, and one iteration is A^T y."""
    everything = Adsgd(entries=1.0, k=1.0, threshold=1e-9, iterations=1)
    run = train(everything, IdealLink(), problem, rounds=3, **OPTIONS)
    cotaf = train(Cotaf(), IdealLink(), problem, rounds=3, **OPTIONS)
    np.testing.assert_allclose(run.model, cotaf.model, atol=1e-5)


class Watched(Adsgd):
    """Notes what each round found and left."""

    def aggregate(self, current, plan, updates, steps):
        outcome = super().aggregate(current, plan, updates, steps)
        self.__dict__.setdefault("seen", []).append((current, outcome))
        return outcome


def test_memory_of_those_who_take_part(problem):
    """Two of four clients per round: a client finds what it left, and others keep theirs."""
    algorithm, left = Watched(k=3), {}
    train(algorithm, IdealLink(), problem, rounds=8, participation=RandomClients(2), **OPTIONS)
    for current, outcome in algorithm.seen:
        found = current.device_state.get("memory", np.zeros((2, 52)))
        for place, client in enumerate(current.clients.tolist()):
            np.testing.assert_array_equal(found[place], left.get(client, np.zeros(52)))
            left[client] = outcome.device_state["memory"][place]
    assert len(left) == 4
    assert all(memory.any() for memory in left.values())


def test_late_clients_send_nothing_and_keep_their_memory(problem):
    """Up to six steps in the time of four: a client that is late finds its memory again."""
    deadline = Deadline(seconds=4.0, step_time=1.0, spread=0.0)
    algorithm, left, kept = Watched(k=3), {}, 0
    run = train(algorithm, GaussianLink(), problem, rounds=12, deadline=deadline, **OPTIONS)
    some = ~run["late"].all(axis=1)  # the algorithm is not asked where nobody sends
    for late, (current, outcome) in zip(run["late"][some], algorithm.seen, strict=True):
        found = current.device_state.get("memory", np.zeros((4, 52)))
        assert ((current.weights == 0) == late).all()
        assert (outcome.reception.energy[late] == 0).all()
        for client in range(4):
            np.testing.assert_array_equal(found[client], left.get(client, np.zeros(52)))
            if late[client]:
                kept += client in left
            else:
                left[client] = outcome.device_state["memory"][client]
    assert kept > 3


def test_resumed_run_is_the_same(problem, tmp_path):
    path = tmp_path / "run.npz"
    for projection in ("dct", "gaussian"):
        algorithm = Adsgd(k=4, projection=projection)
        options = {**OPTIONS, "participation": RandomClients(2)}
        whole = train(algorithm, OfdmLink(), problem, rounds=6, **options)
        path.unlink(missing_ok=True)
        train(algorithm, OfdmLink(), problem, rounds=3, checkpoint=path, **options)
        resumed = train(algorithm, OfdmLink(), problem, rounds=6, checkpoint=path, **options)
        check_same(whole, resumed)


def test_learns(problem):
    """39 of 52 entries on the air, two per client and round: from a quarter right to most."""
    algorithm, link = Adsgd(entries=0.75, k=2), GaussianLink(snr_db=30.0)
    run = train(algorithm, link, problem, rounds=60, steps=3, sgd=Sgd(0.5, 20))
    assert run["test_accuracy"][-20:].mean() > 0.85


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entries": 0}, "entries must be a whole number >= 1, or a share > 0 and <= 1.0, got 0"),
        ({"entries": 1.5}, "entries must be a whole number >= 1, or a share"),
        ({"entries": True}, "entries must be a whole number >= 1, or a share"),
        ({"k": 0.0}, "k must be a whole number >= 1, or a share > 0 and <= 1.0, got 0.0"),
        ({"k": "all"}, "k must be a whole number >= 1, or a share > 0 and <= 1.0, got 'all'"),
        ({"threshold": 0.0}, "threshold must be a finite number > 0, got 0"),
        ({"iterations": 0}, "iterations must be a whole number >= 1, got 0"),
        ({"projection": "hadamard"}, "projection must be one of 'dct', 'gaussian'"),
        ({"projection_seed": -1}, "projection_seed must be a whole number from 0"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Adsgd(**options)


def test_more_than_the_model_has(problem):
    with pytest.raises(ValueError, match="entries must be a whole number from 1 to 52, got 53"):
        train(Adsgd(entries=53), IdealLink(), problem, rounds=1)
    with pytest.raises(ValueError, match="k must be a whole number from 1 to 52, got 53"):
        train(replace(Adsgd(), k=53), IdealLink(), problem, rounds=1)
