"""Deadlines: who is late, and what becomes of what they have computed."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Acpc, Cotaf, Deadline, FedAvg, RandomClients, train
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
