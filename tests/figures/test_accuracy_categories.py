"""Accuracy for swept values that have names."""

from __future__ import annotations

import numpy as np
import pytest

from figures import accuracy_categories, panels
from tests.figures.drawn import study_of
from tests.scenarios import small


@pytest.fixture(scope="module")
def named(data_file, tmp_path_factory):
    content = small.content(data_file, rounds=3)
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "seed": [0, 1],
        "link.power": {"equal": 1.0, "one strong": [4.0, 1.0, 1.0, 1.0], "weak": 0.1},
    }
    return study_of(content, tmp_path_factory.mktemp("named") / "study")


def test_it_applies_where_values_have_names(named, sweep):
    assert accuracy_categories.axis_of(named) == "power"
    assert accuracy_categories.applies(named)
    assert not accuracy_categories.applies(sweep)


def test_a_point_for_each_name_and_algorithm(named):
    (axes,) = accuracy_categories.draw(named).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["equal", "one strong", "weak"]
    assert axes.get_xlabel() == "test accuracy [%]"
    for container, algorithm in zip(axes.containers, ("acpc", "cotaf"), strict=True):
        mean, _ = panels.mean_and_confidence(100 * named["accuracy"].sel(algorithm=algorithm))
        np.testing.assert_allclose(container.lines[0].get_xdata(), mean)
