"""The table ``training``."""

from __future__ import annotations

import inspect

import pytest

from fl import Acpc, Deadline, Diminishing, Epochs, UniformSteps, train_together
from scenarios import ScenarioError
from tests.scenarios.config.simple import one


def test_algorithms_and_training_are_built_as_described():
    cell = one(
        algorithm={"name": "acpc", "beta": "previous", "tau_max": [1, 2]},
        training={
            "rounds": 7,
            "rate": {"initial": 0.4, "rounds": 10.0},
            "batch_size": "none",
            "steps": {"least": 2, "most": 5},
        },
    )
    assert cell.algorithm.build() == Acpc(beta="previous", tau_max=[1, 2])
    options = cell.training.options()
    assert options["sgd"].rate == Diminishing(0.4, 10.0)
    assert options["sgd"].batch_size is None
    assert options["steps"] == UniformSteps(2, 5)
    assert options["rounds"] == 7


def test_all_of_training_reaches_train():
    given = {"rounds": 30, "round_period": 0.7, "test_every": 3, "measure_gradient": True}
    options = one(training=given).training.options()
    assert {key: options[key] for key in given} == given
    parameters = set(inspect.signature(train_together).parameters)
    assert options.keys() == parameters - {
        "runs", "problem", "participation", "downlink", "seed", "checkpoint", "progress", "on_round"
    }  # fmt: skip


def test_what_came_later_has_the_digest_of_before():
    """At the value that reproduces earlier results it is left out."""
    plain = one()
    assert not {"replacement", "deadline", "accuracy"} & set(plain.identity()["training"])
    earlier = {"replacement": True, "deadline": "none", "accuracy": "final"}
    assert one(training=earlier).digest() == plain.digest()
    for change in (
        {"replacement": False},
        {"deadline": {"seconds": 1.0, "step_time": 0.1}},
        {"accuracy": "best"},
        {"steps": {"epochs": 1}},
    ):
        assert one(training=change).digest() != plain.digest()


def test_epochs_replacement_and_deadline_are_built_as_described():
    table = {
        "steps": {"epochs": 2.5},
        "replacement": False,
        "deadline": {"seconds": 2.0, "step_time": 0.1, "late": "send"},
    }
    options = one(training=table).training.options()
    assert options["steps"] == Epochs(2.5)
    assert options["sgd"].replacement is False
    assert options["deadline"] == Deadline(2.0, 0.1, late="send")
    assert one().training.options()["deadline"] is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"steps": {"epochs": 0}}, "training.steps.epochs must be a finite number > 0, got 0"),
        ({"steps": {"epochs": 1, "most": 3}}, "training.steps"),
        ({"steps": {"epoch": 1}}, "training.steps.epoch"),
        ({"deadline": {"seconds": 1.0}}, "training.deadline.step_time"),
        ({"deadline": 1.0}, "training.deadline"),
        ({"accuracy": "last"}, "training.accuracy must be one of 'final', 'best', got 'last'"),
        ({"replacement": "no"}, "training.replacement"),
    ],
)
def test_refused(table, message):
    with pytest.raises(ScenarioError, match=message):
        one(training=table)
