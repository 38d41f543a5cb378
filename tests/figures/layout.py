"""Measure a rendered figure: texts that overlap, leave the canvas, or lie under a legend."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
from matplotlib.text import Annotation, Text

ROOM = 1.0  # pixels that rounding may take


def problems(figure) -> list[str]:
    """Return what a reader would object to; empty for a figure that can be printed."""
    figure.canvas.draw()
    texts = list(_texts(figure))
    found = [f"{one!r} overlaps {other!r}" for (one, a), (other, b) in combinations(texts, 2)
             if _overlap(a, b)]  # fmt: skip
    canvas = figure.bbox
    for text, box in texts:
        inside = box.x0 >= -ROOM and box.y0 >= -ROOM
        if not inside or box.x1 > canvas.x1 + ROOM or box.y1 > canvas.y1 + ROOM:
            found.append(f"{text!r} leaves the canvas")
    for legend in figure.legends:
        for axes in figure.axes:
            if _overlap(legend.get_window_extent(), axes.get_window_extent()):
                found.append("a legend covers a panel")
    return found


def _texts(figure):
    hidden = {id(label) for axes in figure.axes for label in _hidden_labels(axes)}
    for text in figure.findobj(Text):
        if not text.get_visible() or not text.get_text().strip() or id(text) in hidden:
            continue
        # an annotation includes what it points to
        measure = Text.get_window_extent if isinstance(text, Annotation) else None
        box = measure(text) if measure else text.get_window_extent()
        if box.width > 0 and box.height > 0:
            yield text.get_text(), box


def _hidden_labels(axes):
    """Yield the labels of ticks beyond the limits of their axis, which are not drawn."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        room = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not axes.get_visible() or not low - room <= tick.get_loc() <= high + room:
                yield tick.label1
                yield tick.label2


def _overlap(one, other) -> bool:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > ROOM and height > ROOM


def assert_printable(figure) -> None:
    found = problems(figure)
    assert not found, found
    plt.close(figure)
