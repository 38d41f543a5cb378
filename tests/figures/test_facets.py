"""Panels, their headings, legends and ticks."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from figures import facets, style
from tests.figures.layout import assert_printable, problems


def test_headings_stand_once_at_the_edges():
    figure, panels = facets.make(["row 1", "row 2"], ["a", "b", "c"])
    assert panels.shape == (2, 3)
    assert [axes.get_title() for axes in panels.flat] == ["a", "b", "c", "", "", ""]
    assert [[text.get_text() for text in axes.texts] for axes in panels[:, -1]] == [
        ["row 1"],
        ["row 2"],
    ]
    facets.label_axes(figure, panels, ["x"], ["y"])
    assert_printable(figure)


def test_five_columns_are_wrapped_and_the_upper_right_panel_has_numbers():
    figure, panels = facets.make([""], list("abcde"))
    assert panels.shape == (1, 5)
    assert len(figure.axes) == 5
    shown = [axes.xaxis.get_tick_params()["labelbottom"] for axes in panels[0]]
    assert shown == [False, False, True, True, True]


def test_a_legend_is_as_wide_as_the_figure_at_most():
    figure, panels = facets.make([""], [""])
    for number in range(12):
        panels[0, 0].plot([0, 1], label=f"a long name, number {number}")
    made = facets.legend(figure, panels)
    figure.canvas.draw()
    assert made.get_window_extent().width <= figure.bbox.width
    assert_printable(figure)


def test_equal_labels_stand_once():
    figure, panels = facets.make([""], ["a", "b"])
    for axes in panels.flat:
        axes.plot([0, 1], label="line")
    assert [text.get_text() for text in facets.legend(figure, panels).get_texts()] == ["line"]
    assert facets.legend(*facets.make([""], ["a"])) is None


@pytest.mark.parametrize(
    ("values", "decibels", "scale"),
    [
        ([1, 10, 40], True, "linear"),
        ([0.001, 1.0], False, "log"),
        ([0.0, 0.001, 1.0], False, "symlog"),
        ([-1, 0.001, 1.0], False, "linear"),
        ([1, 2, 3], False, "linear"),
    ],
)
def test_scales(values, decibels, scale):
    axes = plt.figure().subplots()
    facets.scale_x(axes, np.array(values), decibels)
    assert axes.get_xscale() == scale
    assert axes.get_xticks().tolist() == sorted(values)


@pytest.mark.parametrize("look", style.STYLES)
def test_ticks_that_would_touch_are_left_out(look):
    values = 1e5 + 1e4 * np.arange(9)
    with style.context(look):
        figure, panels = facets.make([""], ["a", "b", "c"])
        for axes in panels.flat:
            axes.plot(values, np.arange(9))
            facets.scale_x(axes, values, decibels=True)
        assert problems(figure)
        facets.fit(figure)
        assert_printable(figure)
    assert 2 <= len(panels[0, 0].get_xticks()) < 9
