"""Measurements against theory, as the notebooks draw them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from figures import lesson, style


@pytest.fixture
def axes():
    figure, drawn = plt.subplots()
    yield drawn
    plt.close(figure)


def test_samples_become_means_with_bars_of_five_standard_errors(axes):
    samples = [np.array([1.0, 3.0]), np.array([4.0, 4.0, 7.0, 7.0])]
    lesson.compare(axes, [0.0, 1.0], samples, label="seen")
    (markers,) = axes.lines
    np.testing.assert_allclose(markers.get_ydata(), [2.0, 5.5])
    assert markers.get_label() == "seen"
    assert markers.get_linestyle() == "None"
    (bars,) = axes.collections
    low, high = bars.get_segments()[0][:, 1]
    # the deviation of 1 and 3 is sqrt(2), its standard error 1
    np.testing.assert_allclose((low, high), (2 - 5, 2 + 5))


def test_plain_values_have_no_bars(axes):
    lesson.compare(axes, [0.0, 1.0], [3.0, 4.0])
    assert not axes.collections
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [3.0, 4.0])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_function_is_drawn_in_the_range_of_the_measurements(axes, scale):
    axes.set_xscale(scale)
    lesson.compare(axes, [1.0, 10.0, 100.0], [1.0, 2.0, 3.0], lambda x: x**2)
    line = axes.lines[0]
    x = line.get_xdata()
    np.testing.assert_allclose(line.get_ydata(), x**2)
    np.testing.assert_allclose((x[0], x[-1]), (1.0, 100.0))
    steps = np.diff(np.log(x) if scale == "log" else x)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_values_are_drawn_where_they_are_given(axes):
    lesson.compare(axes, [1.0], [2.0], [5.0, 6.0], fine=[1.0, 3.0], place=1)
    line, markers = axes.lines
    np.testing.assert_allclose(line.get_xdata(), [1.0, 3.0])
    np.testing.assert_allclose(line.get_ydata(), [5.0, 6.0])
    assert line.get_color() == markers.get_color() == style.RED
    assert line.get_linestyle() == "--"


def test_theory_alone_is_in_the_legend(axes):
    lesson.compare(axes, [1.0, 2.0], None, [3.0, 4.0], label="law")
    assert [line.get_label() for line in axes.lines] == ["law"]


def test_decibels(axes):
    samples = [np.array([90.0, 110.0])]
    lesson.compare(axes, [0.0], samples, [1000.0], db=True, fillstyle="none")
    line, markers = axes.lines
    np.testing.assert_allclose(line.get_ydata(), [30.0])
    np.testing.assert_allclose(markers.get_ydata(), [20.0])
    assert markers.get_fillstyle() == "none"
    low, high = axes.collections[0].get_segments()[0][:, 1]
    np.testing.assert_allclose((low, high), 10 * np.log10([50.0, 150.0]))


def test_a_bar_that_would_pass_zero_ends_30_db_below_the_mean(axes):
    lesson.compare(axes, [0.0], [np.array([0.0, 2.0])], db=True)
    assert axes.collections[0].get_segments()[0][0, 1] == pytest.approx(-30.0)


@pytest.mark.parametrize("theory", [lambda x, n: x**n, {2: [1.0, 9.0], 3: [1.0, 27.0]}])
def test_a_family_has_one_pair_per_key(axes, theory):
    measured = {2: [1.1, 9.1], 3: [1.2, 27.2]}
    lesson.compare_each(axes, [1.0, 3.0], measured, theory, label="n = {}", first=1)
    lines, markers = axes.lines[::2], axes.lines[1::2]
    assert [each.get_label() for each in markers] == ["n = 2", "n = 3"]
    assert [each.get_color() for each in lines] == [style.RED, style.GREEN]
    assert [each.get_ydata()[-1] for each in lines] == [pytest.approx(9), pytest.approx(27)]
    np.testing.assert_allclose([each.get_ydata() for each in markers], [*measured.values()])


def test_exceedance():
    found = lesson.exceedance([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 5.0])
    np.testing.assert_allclose(found, [1.0, 0.5, np.nan])
