"""What the plots of the page have in common."""

from __future__ import annotations

import numpy as np
import pytest

from otafl.demo import plots


def test_limits_are_the_same_on_either_side():
    made = plots.centred("I", "Q")
    plots.reach(made, 2.0, 3.0)
    assert (made.x_range.start, made.x_range.end) == (-2, 2)
    assert (made.y_range.start, made.y_range.end) == (-3, 3)


def test_data_are_replaced():
    made = plots.plot("x", "y")
    renderer = plots.add(made, "scatter")
    plots.fill_plane(renderer, np.array([1 + 2j, 3 - 4j]))
    data = renderer.data_source.data
    assert [list(data["x"]), list(data["y"])] == [[1, 3], [2, -4]]


def test_a_few_far_points_do_not_set_the_radius():
    points = np.full(1000, 2 - 4j)
    points[0] = 100
    assert plots.radius(points, least=1.0) == pytest.approx(1.15 * 4)
    assert plots.radius(points, least=9.0) == 9


def test_the_legend_has_an_entry_per_line():
    made = plots.plot("x", "y")
    for name in ("one", "two"):
        plots.add(made, "line", legend_label=name)
    assert [entry.label.value for entry in plots.legend(made)] == ["one", "two"]
