"""Accuracies beside those of a paper."""

from __future__ import annotations

import numpy as np

from figures import style, table1
from tests.figures.layout import assert_printable


def test_open_markers_are_the_paper(sweep):
    assert table1.applies(sweep)
    figure = table1.draw(sweep, print)
    axes = figure.axes[1]  # truncation 0.1
    papers = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    drawn = [line.get_ydata() for line in papers[:2]]
    np.testing.assert_array_equal(drawn, [[50.0, np.nan, np.nan], [99.0, np.nan, np.nan]])
    assert "paper" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert style.caption_of(figure).endswith("Open markers: the paper.")
    assert_printable(figure)


def test_it_needs_published_accuracies(faulty):
    assert not table1.applies(faulty)
