"""The table ``training``."""

from __future__ import annotations

import inspect

from fl import Acpc, Diminishing, UniformSteps, train_together
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
        "runs", "problem", "seed", "checkpoint", "progress", "on_round"
    }  # fmt: skip
