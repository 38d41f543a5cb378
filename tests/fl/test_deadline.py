"""Deadlines: who is late, and what becomes of what they have computed."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Algorithm,
    Cotaf,
    Deadline,
    FedAvg,
    FedAvgM,
    Outcome,
    RandomClients,
    Round,
    RoundRobin,
    Sgd,
    quadratic_problem,
    train,
)
from fl.deadline import without_late
from links import GaussianLink, IdealLink, OfdmLink, OrthogonalLink
from tests.fl.problems import run_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same

EXACT = {"step_time": 0.1, "spread": 0.0}  # every device takes 0.1 s for a step


def test_speeds_are_lognormal_and_belong_to_the_device(rng):
    """ln of the time is N(ln 1 ms, 0.8^2): a million steps take the device's time to 1e-6."""
    seed = int(rng.integers(2**31))
    deadline = Deadline(seconds=1000.0, step_time=1e-3, spread=0.8)
    steps = deadline.steps(seed, np.arange(4000))
    logs = np.log(1000.0 / steps)
    assert abs(logs.mean() - np.log(1e-3)) < 5 * 0.8 / np.sqrt(4000)
    assert abs(logs.std() / 0.8 - 1) < 5 / np.sqrt(2 * 4000)
    np.testing.assert_array_equal(deadline.steps(seed, np.array([7, 3999])), steps[[7, 3999]])
    assert (deadline.steps(seed + 1, np.arange(4000)) != steps).mean() > 0.9


def test_whole_steps_in_time():
    assert Deadline(1.0, 0.1, 0.0).steps(0, np.arange(1)).tolist() == [10]
    assert Deadline(0.99, 0.1, 0.0).steps(0, np.arange(1)).tolist() == [9]
    assert Deadline(0.05, 0.1, 0.0).steps(0, np.arange(1)).tolist() == [0]


def test_late_clients_are_dropped():
    """Time for one step; client 2 takes two. x_1 is that of client 1 alone: 1/4."""
    history = run_parabolas(Cotaf(), deadline=Deadline(0.1, **EXACT))
    assert history["late"].tolist() == [[False, True]]
    assert history["steps"].tolist() == [[1, 2]]
    assert history["client_weight"].tolist() == [[1.0, 0.0]]
    np.testing.assert_allclose(history.model, [0.25])
    assert history["energy"][0, 1] == 0


def test_whole_models_of_late_clients_are_dropped_too():
    history = run_parabolas(FedAvg(), deadline=Deadline(0.1, **EXACT))
    np.testing.assert_allclose(history.model, [0.25])


def test_late_clients_send_what_they_have():
    """Client 2 takes one step of its two: (1/4 + 6/4) / 2 = 0.875."""
    history = run_parabolas(Cotaf(), deadline=Deadline(0.1, **EXACT, late="send"))
    assert history["steps"].tolist() == [[1, 1]]
    assert not history["late"].any()
    np.testing.assert_allclose(history.model, [0.875])


@pytest.mark.parametrize("late", ["drop", "send"])
@pytest.mark.parametrize("algorithm", ["cotaf", "fedavg", "acpc, previous"])
def test_the_server_keeps_its_model_if_all_are_late(late, algorithm):
    """Not even one step: nothing is sent, and nothing is lost."""
    history = run_parabolas(
        ALGORITHMS[algorithm], GaussianLink(), rounds=3, deadline=Deadline(0.05, **EXACT, late=late)
    )
    assert history["late"].all()
    assert not history["client_weight"].any()
    assert not history["energy"].any()
    assert not history["radiated_energy"].any()
    assert not history["airtime"].any()
    assert np.isnan(history["train_loss"]).all()
    assert np.isnan(history.participation_bias())
    np.testing.assert_array_equal(history.model, history.start)


def test_nobody_late_changes_nothing(problem):
    options = {**OPTIONS, "rounds": 3}
    without = train(Cotaf(), GaussianLink(), problem, **options)
    check_same(
        without, train(Cotaf(), GaussianLink(), problem, deadline=Deadline(1e6, 1), **options)
    )


def test_weights_of_those_in_time_keep_their_sum(problem):
    """The others' are scaled up by a common factor, on top of those of a selection."""
    deadline = Deadline(1.0, 0.25, spread=0.7)
    options = {**OPTIONS, "steps": 4, "rounds": 8, "participation": RandomClients(3)}
    history = train(Cotaf(), IdealLink(), problem, deadline=deadline, **options)
    every = train(Cotaf(), IdealLink(), problem, **options)
    late = history["late"]
    assert 0 < late.mean() < 1
    for devices, each in zip(history["device"], late, strict=True):
        np.testing.assert_array_equal(deadline.steps(OPTIONS["seed"], devices) < 4, each)
    for mine, whole, each in zip(
        history["client_weight"], every["client_weight"], late, strict=True
    ):
        assert not mine[each].any()
        if not each.all():
            factor = whole.sum() / whole[~each].sum()
            np.testing.assert_allclose(mine[~each], factor * whole[~each])


def test_those_in_time_have_the_weight_of_all(rng):
    """Weights of sum 0.8, of which 0.5 are in time: the factor is 1.6, and late updates are 0."""
    weights = np.array([0.4, 0.3, 0.1])
    uplink = IdealLink().open(3, 2, rng)
    current = Round(0, np.zeros(2), uplink, weights, np.ones(3, np.int64), 0.1)
    late = np.array([False, True, False])
    after, updates = without_late(current, np.arange(1.0, 7.0).reshape(3, 2), late)
    np.testing.assert_allclose(after.weights, [0.64, 0.0, 0.16], rtol=1e-12)
    assert after.reweighting == pytest.approx(1.6, rel=1e-12)
    np.testing.assert_array_equal(updates, [[1, 2], [0, 0], [5, 6]])
    everyone, same = without_late(current, updates, np.zeros(3, bool))
    assert everyone is current
    assert same is updates
    nobody, nothing = without_late(current, updates, np.ones(3, bool))
    assert not nobody.weights.any()
    assert not nothing.any()


class Plain(Algorithm):
    """Adds updates up, whatever their weights."""

    def aggregate(self, current, plan, updates, steps):
        received = current.uplink.send(updates, 1.0)
        return Outcome(current.model + received.total, received, 1.0)


def test_what_late_clients_computed_is_lost_on_any_algorithm():
    """Client 1 moves the model by 1/4 and, from there, by 3/16."""
    history = run_parabolas(Plain(), rounds=2, deadline=Deadline(0.1, **EXACT))
    np.testing.assert_allclose(history.model, [1 / 4 + 3 / 16])


TURNS = {"participation": RoundRobin(1), "deadline": Deadline(0.1, **EXACT)}  # client 2 is late


def test_momentum_survives_a_round_in_which_all_are_late():
    """m = 1/8 after client 1 with D = 1/4; from 1/8 it has D = 7/32, and m = 11/64."""
    optimiser = FedAvgM(Cotaf(), server_step=1.0, beta1=0.5)
    history = run_parabolas(optimiser, rounds=3, **TURNS)
    assert history["late"].tolist() == [[False], [True], [False]]
    np.testing.assert_allclose(history.model, [1 / 8 + 11 / 64], rtol=1e-12)


def test_the_tracked_bound_survives_a_round_in_which_all_are_late(tmp_path):
    """The first client has fitted with G = ||Delta|| / eta = 1."""
    for rounds in (1, 2):
        file = tmp_path / f"{rounds}.npz"
        options = {"rounds": rounds, "checkpoint": file, **TURNS}
        history = run_parabolas(Acpc(tau_min=2), GaussianLink(snr_db=np.inf), **options)
        with np.load(file) as saved:
            assert saved["0/state/G"] == pytest.approx(1.0, rel=1e-5)
    assert history["late"].tolist() == [[False], [True]]


@pytest.mark.parametrize("steps", [(1, 1, 1, 1), (1, 1, 1, 2), (1, 2, 1, 2)])
def test_an_announced_gain_allows_for_the_weights_of_late_clients(steps):
    """G = 1 just fits four clients with Delta = eta; those who take two steps are late.

    The announced gain is 1 / (1/4 1/4 1) = 16, for weights of 1/4. The weights of those in time
    grow, and the gain falls by as much: their signals still fit, and x_1 = eta for any of them.
    """
    four = quadratic_problem([[[1.0]]] * 4, [[1.0]] * 4)
    history = train(
        Acpc(G=1.0, tau_min=2), GaussianLink(snr_db=np.inf, power=1.0), four, steps=list(steps),
        rounds=1, sgd=Sgd(0.25, None), deadline=Deadline(0.1, **EXACT),
    )  # fmt: skip
    late = np.array(steps) == 2
    np.testing.assert_array_equal(history["late"][0], late)
    assert not history["scaled_down"].any()
    np.testing.assert_allclose(history["load"][0], ~late, rtol=1e-4)
    np.testing.assert_allclose(history["gain"], 16 * (~late).mean(), rtol=1e-5)
    np.testing.assert_allclose(history.model, [0.25], rtol=1e-5)


def test_late_clients_take_no_time_on_the_orthogonal_link(problem):
    link = OrthogonalLink(snr_db=np.inf)
    options = {**OPTIONS, "steps": [1, 1, 9, 9], "rounds": 1}
    everyone = train(Cotaf(), link, problem, **options)
    history = train(Cotaf(), link, problem, deadline=Deadline(0.1, **EXACT), **options)
    assert history["late"].tolist() == [[False, False, True, True]]
    np.testing.assert_allclose(history["airtime"], everyone["airtime"] / 2)
    assert (history["energy"][0] > 0).tolist() == [True, True, False, False]
    assert (history["radiated_energy"][0] > 0).tolist() == [True, True, False, False]


def test_airtime_over_ofdm_is_that_of_a_round(problem):
    """All who are in time send at once, however many are late."""
    options = {**OPTIONS, "steps": 2, "rounds": 3}
    link = OfdmLink(entry_snr_db=10.0)
    whole = train(Cotaf(), link, problem, **options)
    some = train(Cotaf(), link, problem, deadline=Deadline(0.2, 0.1, spread=0.3), **options)
    assert some["late"].any()
    assert not some["late"].all()
    np.testing.assert_allclose(some["airtime"], whole["airtime"])


def test_adaptive_steps_are_in_time():
    """ACPC takes one step where no budget binds, COTAF all that it may: the paper's remedy."""
    options = {"steps": 20, "deadline": Deadline(1.0, **EXACT), "rounds": 2}
    assert run_parabolas(Cotaf(), **options)["late"].all()
    assert not run_parabolas(Acpc(), **options)["late"].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "seconds must be a finite number > 0, got 0"),
        ({"step_time": -1}, "step_time must be a finite number > 0, got -1"),
        ({"spread": -0.1}, "spread must be a finite number >= 0, got -0.1"),
        ({"late": "wait"}, "late must be one of 'drop', 'send', got 'wait'"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Deadline(**{"seconds": 1.0, "step_time": 0.1, **options})


def test_a_deadline_that_is_none(problem):
    with pytest.raises(
        ValueError, match="deadline must be a Deadline.seconds, step_time., or None"
    ):
        train(Cotaf(), IdealLink(), problem, rounds=1, deadline=1.0)
