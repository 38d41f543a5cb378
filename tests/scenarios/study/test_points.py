"""Points of a sweep, and their comparison with a paper."""

from __future__ import annotations

import math

import pytest

from scenarios.study.points import Point, compare


def point(p, algorithm, mean, paper):
    labels = {"data.labels_per_client": p, "algorithm.name": algorithm}
    return Point(labels, (mean,), (), 1, 0, paper)


def test_comparison_by_hand():
    points = [
        point(1, "acpc", 80.0, 82.0),
        point(1, "cotaf", 60.0, 59.0),
        point(1, "fedavg", 70.0, 55.0),  # 15 off, and on the wrong side of cotaf
        point(2, "acpc", 90.0, 90.0),
        point(2, "cotaf", 91.0, 89.0),  # the wrong way round
    ]
    found = compare(points)
    assert found.deviation == pytest.approx((2 + 1 + 15 + 0 + 2) / 5)
    assert found.farthest is points[2]
    assert (found.agreeing, found.orderings) == (2, 4)
    assert compare([point(1, "acpc", 80.0, None)]) is None


def test_point_without_runs():
    empty = Point({}, (), (), 0, 0, None)
    assert math.isnan(empty.mean)
    assert math.isnan(empty.std)
