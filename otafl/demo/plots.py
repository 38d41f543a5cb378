"""What the plots of the page have in common: look, sources, legends, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, LegendItem, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

INK, TICKS, GRID = "#30363d", "#9aa2ad", "#e8ebef"


def plot(x: str, y: str, **options: Any) -> figure:
    """Return an empty figure with labelled axes that fills its place in the page."""
    made = figure(
        x_axis_label=x,
        y_axis_label=y,
        sizing_mode="stretch_both",
        min_width=60,
        min_height=60,
        toolbar_location=None,
        tools="",
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        min_border=4,
        output_backend="canvas",
        **options,
    )
    for axis in made.axis:
        axis.update(
            axis_line_color=TICKS,
            major_tick_line_color=TICKS,
            major_tick_in=0,
            minor_tick_line_color=None,
            major_label_text_color=INK,
            major_label_text_font_size="11px",
            axis_label_text_color=INK,
            axis_label_text_font_style="normal",
            axis_label_text_font_size="12px",
            axis_label_standoff=2,
        )
    made.xaxis.ticker.desired_num_ticks = 5
    made.yaxis.ticker.desired_num_ticks = 5
    made.grid.grid_line_color = GRID
    return made


def centred(x: str, y: str) -> figure:
    """Return a figure around the origin; :func:`reach` sets its limits."""
    return plot(x, y, x_range=Range1d(-1, 1), y_range=Range1d(-1, 1))


def reach(made: figure, across: float, up: float) -> None:
    """Set the limits of both axes, the same on either side of the origin."""
    made.x_range.update(start=-across, end=across)
    made.y_range.update(start=-up, end=up)


def add(made: figure, glyph: str, *further: str, **look: Any) -> GlyphRenderer:
    """Add a line or points without data, in columns "x", "y" and ``further``."""
    source = ColumnDataSource({name: [] for name in ("x", "y", *further)})
    return getattr(made, glyph)("x", "y", source=source, **look)


def fill(renderer: GlyphRenderer, x: NDArray, y: NDArray, **further: NDArray) -> None:
    """Replace the data of a line or of points."""
    renderer.data_source.data = {"x": x, "y": y, **further}


def fill_plane(renderer: GlyphRenderer, points: NDArray) -> None:
    """Replace points by those of complex numbers."""
    fill(renderer, points.real.copy(), points.imag.copy())


def level_line(made: figure, location: float) -> Span:
    """Add a dashed horizontal line."""
    line = Span(location=location, dimension="width", line_dash="dashed", line_color=INK)
    made.add_layout(line)
    return line


def legend(made: figure) -> list[LegendItem]:
    """Place the legend above the plot, and return its entries."""
    found = made.legend[0]
    found.update(
        label_text_font_size="11px",
        label_text_color=INK,
        label_standoff=3,
        border_line_color=None,
        background_fill_alpha=0.75,
        padding=2,
        glyph_width=14,
        glyph_height=14,
        orientation="horizontal",
        margin=0,
        spacing=8,
        location="right",
    )
    made.add_layout(found, "above")
    return list(found.items)


def radius(*clouds: NDArray, least: float) -> float:
    """Return a radius within which nearly all points lie."""
    points = np.concatenate([cloud.ravel() for cloud in clouds])
    farthest = np.maximum(np.abs(points.real), np.abs(points.imag))
    return max(1.15 * float(np.quantile(farthest, 0.98)), least)
