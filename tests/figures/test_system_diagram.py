"""The block diagram of the system, measured as it is rendered."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import FancyBboxPatch

from figures import style, system_diagram
from figures.system_diagram import CLIENT, EDGES, SERVER

ROOM = 1.0  # pixels that rounding may take


@pytest.fixture(params=style.STYLES)
def figure(request):
    with style.context(request.param):
        drawn = system_diagram.draw()
        drawn.canvas.draw()
        yield drawn
        plt.close(drawn)


def texts(figure):
    (axes,) = figure.axes
    return {text: text.get_window_extent() for text in axes.texts if text.get_text()}


def boxes(figure):
    """The boxes by the name of their step."""
    (axes,) = figure.axes
    found = [each for each in axes.patches if isinstance(each, FancyBboxPatch)]
    return {box.get_gid(): box.get_window_extent() for box in found}


def inside(inner, outer):
    return (
        inner.x0 >= outer.x0 - ROOM
        and inner.y0 >= outer.y0 - ROOM
        and inner.x1 <= outer.x1 + ROOM
        and inner.y1 <= outer.y1 + ROOM
    )


def overlap(one, other):
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return min(width, height)


def test_it_is_as_wide_as_a_page():
    with style.context("paper"):
        drawn = system_diagram.draw()
    assert drawn.get_figwidth() == pytest.approx(7.16)
    assert drawn.get_figheight() < 4
    plt.close(drawn)


def test_texts_do_not_overlap(figure):
    for (one, first), (other, second) in combinations(texts(figure).items(), 2):
        assert overlap(first, second) <= ROOM, (one.get_text(), other.get_text())


def test_nothing_leaves_the_canvas(figure):
    (axes,) = figure.axes
    drawn = [*axes.texts, *axes.patches, *axes.lines]
    for artist in drawn:
        assert inside(artist.get_window_extent(), figure.bbox), artist


def test_boxes_do_not_overlap(figure):
    for (one, first), (other, second) in combinations(boxes(figure).items(), 2):
        assert overlap(first, second) <= 0, (one, other)


def test_a_text_is_inside_one_box_or_outside_all(figure):
    for text, extent in texts(figure).items():
        for name, box in boxes(figure).items():
            apart = overlap(extent, box) <= ROOM
            assert apart or inside(extent, box), (text.get_text(), name)


@pytest.mark.parametrize("block", [*CLIENT, *SERVER], ids=lambda block: block.name)
def test_a_step_has_its_name_text_and_package_in_its_box(figure, block):
    box = boxes(figure)[block.name.replace("\n", " ")]
    held = {text.get_text() for text, extent in texts(figure).items() if inside(extent, box)}
    assert held == {block.name, block.text, block.package}


def test_every_package_has_a_legend(figure):
    assert set(EDGES) <= set(boxes(figure))
    assert {block.package for block in (*CLIENT, *SERVER)} == set(EDGES)


def test_text_is_readable_in_print(figure):
    (axes,) = figure.axes
    scale = figure.get_figwidth() / 7.16
    assert min(text.get_fontsize() for text in axes.texts if text.get_text()) >= 5.8 * scale
