"""Points of a sweep, and their comparison with a paper."""

from __future__ import annotations

import math

import pytest

from scenarios.study.points import Point, compare


def point(p, algorithm, mean, paper):
    labels = {"data.labels_per_client": p, "algorithm.name": algorithm}
    return some_point(labels, paper, mean)


def some_point(labels, paper, *accuracies):
    return Point(
        labels,
        accuracies=accuracies,
        finals=tuple(each - 1 for each in accuracies),
        biases=tuple(0.1 * number for number, _ in enumerate(accuracies)),
        losses=(),
        finished=len(accuracies),
        diverged=0,
        paper=paper,
    )


def test_comparison_by_hand():
    points = [
        point(1, "acpc", 80.0, 82.0),
        point(1, "cotaf", 60.0, 59.0),
        point(1, "fedavg", 70.0, 55.0),  # 15 off, and on the wrong side of cotaf
        point(2, "acpc", 90.0, 90.0),
        point(2, "cotaf", 91.0, 89.0),  # the wrong way round
    ]
    (found,) = compare(points)
    assert found.reading == ""
    assert found.deviation == pytest.approx((2 + 1 + 15 + 0 + 2) / 5)
    assert found.median == pytest.approx(2)
    assert found.farthest is points[2]
    assert (found.agreeing, found.orderings) == (2, 4)
    assert compare([point(1, "acpc", 80.0, None)]) == []


def test_point_without_runs():
    empty = some_point({}, None)
    for value in (empty.mean, empty.std, empty.final, empty.bias, empty.loss, empty.deviation):
        assert math.isnan(value)


def test_means_by_hand():
    some = some_point({}, 70.0, 80.0, 90.0)
    assert (some.mean, some.final, some.runs) == (85.0, 84.0, 2)
    assert some.bias == pytest.approx(0.05)
    assert some.deviation == 15.0


def test_readings_are_compared_one_at_a_time():
    """Two variants of the same algorithm, of which either belongs beside the other one."""

    def variant(name, mean, paper):
        return some_point({"variant": name}, paper, mean)

    points = [variant("acpc", 90.0, 91.0), variant("models", 80.0, 83.0),
              variant("updates", 95.0, 83.0)]  # fmt: skip
    models, updates = compare(points, ["models", "updates"])
    assert (models.reading, updates.reading) == ("models", "updates")
    assert (models.deviation, updates.deviation) == (pytest.approx(2), pytest.approx(6.5))
    assert (models.agreeing, models.orderings) == (1, 1)
    assert (updates.agreeing, updates.orderings) == (0, 1)
    assert updates.farthest is points[2]
