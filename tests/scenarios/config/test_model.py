"""The table ``model``."""

from __future__ import annotations

import pytest

from fl import LogisticRegression, Mlp, load_dataset
from scenarios import ScenarioError
from tests.scenarios.config.simple import one


def test_models_are_built_for_the_data():
    data = load_dataset("mnist")
    assert one().model.build(data, 0) == LogisticRegression(784, 10)
    assert one(model={"name": "mlp"}).model.build(data, 0) == Mlp(784, 10, (64,))
    table = {"name": "mlp", "hidden": [32, 16]}
    assert one(model=table).model.build(data, 0) == Mlp(784, 10, (32, 16))
    assert one(model=table).model.settings() == table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "mlp", "hidden": 32}, "model.hidden must be a list of whole numbers, got 32"),
        ({"name": "mlp", "hidden": [0]}, r"model.hidden\[0\] must be a whole number from 1"),
        ({"name": "cnn", "filters": [8]}, r"model.filters must be a list of 2 whole .*, got \[8\]"),
        ({"name": "nlp"}, r"model.name must be one of .*, got 'nlp'; did you mean 'mlp'\?"),
        ({"hidden": [32]}, "model.hidden is a key of mlp, not of logistic"),
    ],
)
def test_what_is_wrong_is_said(table, message):
    with pytest.raises(ScenarioError, match=message):
        one(model=table)
