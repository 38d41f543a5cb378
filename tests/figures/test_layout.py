"""Cross-cutting: the measurement that the tests of figures rely on finds what it should."""

from __future__ import annotations

import matplotlib.pyplot as plt

from tests.figures.layout import problems


def test_a_plain_figure_has_no_problem():
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot([0, 1], [0, 1])
    axes.set(xlabel="time", ylabel="value", title="a title")
    assert problems(figure) == []


def test_texts_on_top_of_one_another_are_found():
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.text(0.5, 0.5, "one")
    axes.text(0.52, 0.5, "other")
    assert problems(figure) == ["'one' overlaps 'other'"]


def test_colliding_ticks_are_found():
    figure, axes = plt.subplots(figsize=(1.5, 1))
    axes.set_xticks([0, 0.1, 1], ["a long label", "another one", "far"])
    assert "'a long label' overlaps 'another one'" in problems(figure)


def test_texts_that_leave_the_canvas_are_found():
    figure = plt.figure(figsize=(3, 2))
    figure.text(0.9, 0.5, "a sentence that goes on and on")
    assert problems(figure) == ["'a sentence that goes on and on' leaves the canvas"]


def test_legends_over_panels_are_found():
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot([0, 1], label="line")
    figure.legend(loc="center")
    assert "a legend covers a panel" in problems(figure)


def test_hidden_texts_do_not_count():
    figure, (upper, lower) = plt.subplots(2, sharex=True, figsize=(3, 3))
    upper.text(0.5, 0.5, "one")
    upper.text(0.5, 0.5, "other", visible=False)
    lower.plot([0, 1])
    assert problems(figure) == []
