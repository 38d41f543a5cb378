"""The plots of the page; their data are replaced in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Span, Whisker
from bokeh.plotting import figure
from numpy.typing import NDArray

from figures import style
from otafl.demo.linkview import SHOWN_CLIENTS, SYMBOLS, LinkView
from otafl.demo.setting import Setting
from otafl.demo.training import ALGORITHMS, ROUNDS

COLOURS = (style.BLUE, style.RED, style.GREEN, style.ORANGE)
OTHERS = "#c9ced6"
INK, TICKS, GRID = "#30363d", "#9aa2ad", "#e8ebef"
LOOKS = {
    "acpc": (style.BLUE, "solid"),
    "cotaf": (style.RED, "dashed"),
    "fedavg": (style.GREEN, "dotdash"),
}


def _figure(x: str, y: str, **options: Any) -> figure:
    made = figure(
        x_axis_label=x,
        y_axis_label=y,
        height=300,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        output_backend="canvas",
        **options,
    )
    for axis in made.axis:
        axis.update(
            axis_line_color=TICKS,
            major_tick_line_color=TICKS,
            minor_tick_line_color=None,
            major_label_text_color=INK,
            axis_label_text_color=INK,
            axis_label_text_font_style="normal",
            axis_label_text_font_size="12px",
        )
    made.grid.grid_line_color = GRID
    return made


def _centred(x: str, y: str) -> figure:
    """Return a figure around the origin; :func:`_reach` sets its limits."""
    return _figure(x, y, x_range=Range1d(-1, 1), y_range=Range1d(-1, 1))


def _reach(made: figure, across: float, up: float) -> None:
    """Set the limits of both axes, the same on either side of the origin."""
    made.x_range.update(start=-across, end=across)
    made.y_range.update(start=-up, end=up)


def _add(made: figure, glyph: str, *further: str, **look: Any) -> ColumnDataSource:
    """Add a line or points, and return their data source: "x", "y" and ``further`` columns."""
    source = ColumnDataSource({name: [] for name in ("x", "y", *further)})
    getattr(made, glyph)("x", "y", source=source, **look)
    return source


def _level(made: figure, location: float) -> Span:
    """Add a dashed horizontal line."""
    line = Span(location=location, dimension="width", line_dash="dashed", line_color=INK)
    made.add_layout(line)
    return line


def _legend(made: figure, place: str) -> None:
    """Place the legend inside, where it covers no data, or "above" the plot."""
    legend = made.legend[0]
    legend.update(
        label_text_font_size="11px",
        border_line_color=None,
        background_fill_alpha=0.75,
        padding=4,
        glyph_width=18,
    )
    if place == "above":
        legend.update(orientation="horizontal", margin=0, spacing=8)
        made.add_layout(legend, "above")
    else:
        legend.update(location=place, spacing=0)


def _plane(points: NDArray[np.complex64]) -> dict[str, NDArray]:
    return {"x": points.real.copy(), "y": points.imag.copy()}


def _radius(*clouds: NDArray[np.complex64], least: float) -> float:
    """Return a radius within which nearly all points lie."""
    points = np.concatenate([cloud.ravel() for cloud in clouds])
    farthest = np.maximum(np.abs(points.real), np.abs(points.imag))
    return max(1.15 * float(np.quantile(farthest, 0.98)), least)


def _each(sources: Sequence, values: NDArray) -> Iterator[tuple[Any, NDArray]]:
    """Pair sources with values; sources without a client get none."""
    return zip_longest(sources, values, fillvalue=values[:0].ravel())


def _clients(x: str, y: str, sizes: tuple[float, ...]) -> tuple[figure, list[ColumnDataSource]]:
    """Return a complex plane with the points of each client."""
    made = _centred(x, y)
    return made, [
        _add(made, "scatter", color=colour, size=size, alpha=0.6, line_color=None)
        for colour, size in zip(COLOURS, sizes, strict=True)
    ]


class Pictures:
    """The plots of one round; ``figures`` holds them by their name in the page."""

    def __init__(self) -> None:
        channels = self._make_channels()
        sent, self._sent_points = _clients("I / allowed rms", "Q / allowed rms", (4, 4, 4, 4))
        # so that all clients are visible where they coincide
        arrived, self._arrived_points = _clients("I", "Q", (11, 8, 5.5, 3))
        self.figures = {
            "channels": channels,
            "sent": sent,
            "arrived": arrived,
            "sum": self._make_sum(),
            "scatter": self._make_scatter(),
            "energy": self._make_energy(),
            "error": self._make_error(),
        }

    def _make_channels(self) -> figure:
        made = _figure("frequency [MHz]", "|h|² [dB]", y_range=Range1d(-30, 12))
        made.x_range.range_padding = 0
        self._channels = []
        for client, colour in enumerate(COLOURS, start=1):
            seen = _add(made, "scatter", color=colour, size=2, alpha=0.5)
            name = f"client {client}"
            true = _add(made, "line", color=colour, line_width=2, legend_label=name)
            self._channels.append((true, seen))
        self._threshold = _level(made, 0)
        _legend(made, "above")
        return made

    def _make_sum(self) -> figure:
        made = _centred("I", "Q")
        look = {"fill_color": None, "line_color": INK, "line_alpha": 0.55, "size": 11}
        self._sum_true = _add(made, "scatter", legend_label="true sum", **look)
        look = {"color": style.BLUE, "size": 4, "alpha": 0.6}
        self._sum_received = _add(made, "scatter", legend_label="received", **look)
        _legend(made, "above")
        return made

    def _make_scatter(self) -> figure:
        made = _centred("true sum, per entry", "received")
        self._diagonal = _add(made, "line", color=INK, line_dash="dashed")
        self._pairs = _add(made, "scatter", color=style.BLUE, size=4, alpha=0.5)
        return made

    def _make_energy(self) -> figure:
        made = _figure("OFDM symbol", "energy / budget", y_range=Range1d(0, 1.12))
        made.xaxis.ticker = list(range(1, SYMBOLS + 1))
        made.xgrid.grid_line_color = None
        self._bars = ColumnDataSource({"x": [], "top": [], "width": [], "colour": []})
        made.vbar("x", top="top", width="width", color="colour", line_color=None, source=self._bars)
        _level(made, 1)
        return made

    def _make_error(self) -> figure:
        made = _figure("entry SNR [dB]", "NMSE of the sum [dB]")
        name = "closed form, no hardware faults"
        self._theory = _add(made, "line", color=INK, line_width=2, legend_label=name)
        look: dict[str, Any] = {"color": style.RED, "size": 7, "legend_label": "measured, mean"}
        self._measured = _add(made, "scatter", "low", "high", **look)
        bars = Whisker(base="x", lower="low", upper="high", source=self._measured)
        bars.update(line_color=style.RED, upper_head=None, lower_head=None)
        made.add_layout(bars)
        look = {"marker": "diamond", "fill_color": style.BLUE, "line_color": "white", "size": 15}
        self._now = _add(made, "scatter", legend_label="this round", **look)
        _legend(made, "top_right")
        return made

    def show(self, setting: Setting, view: LinkView) -> None:
        """Replace the data of all plots."""
        self._show_channels(setting, view)
        for source, points in _each(self._sent_points, view.sent):
            source.data = _plane(points[points != 0])
        for source, points in _each(self._arrived_points, view.arrived):
            source.data = _plane(points)
        self._sum_true.data = _plane(np.unique(view.true_sum))
        self._sum_received.data = _plane(view.received_sum)
        for name, radius in (
            ("sent", _radius(view.sent, least=1.6)),
            ("arrived", _radius(view.arrived, least=1.9)),
            ("sum", _radius(view.true_sum, view.received_sum, least=1.6)),
        ):
            _reach(self.figures[name], radius, radius)
        self._show_scatter(view)
        self._show_energy(view)
        self._show_error(setting, view)

    def _show_channels(self, setting: Setting, view: LinkView) -> None:
        true, seen = zip(*self._channels, strict=True)
        estimate = view.estimate[: None if setting.csi_error else 0]  # not shown where it is right
        for sources, strengths in ((true, view.strength), (seen, estimate)):
            for source, strength in _each(sources, strengths):
                source.data = {"x": view.frequency[: len(strength)], "y": 10 * np.log10(strength)}
        self._threshold.visible = setting.truncation > 0
        self._threshold.location = 10 * np.log10(max(setting.truncation, 1e-4))

    def _show_scatter(self, view: LinkView) -> None:
        true, received = (
            np.concatenate([points.real, points.imag])
            for points in (view.true_sum, view.received_sum)
        )
        self._pairs.data = {"x": true, "y": received}
        across = 1.15 * float(np.abs(true).max(initial=1.0))
        up = max(across, 1.1 * float(np.quantile(np.abs(received), 0.99)))
        self._diagonal.data = {"x": [-across, across], "y": [-across, across]}
        _reach(self.figures["scatter"], across, up)

    def _show_energy(self, view: LinkView) -> None:
        clients = len(view.load)
        width = 0.8 / clients
        client, symbol = np.indices(view.load.shape)
        self._bars.data = {
            "x": (symbol + 1 + (client - (clients - 1) / 2) * width).ravel(),
            "top": view.load.ravel(),
            "width": np.full(view.load.size, 0.88 * width),
            "colour": np.array([*COLOURS, OTHERS])[np.minimum(client, SHOWN_CLIENTS)].ravel(),
        }

    def _show_error(self, setting: Setting, view: LinkView) -> None:
        curve = view.curve
        self._theory.data = {"x": curve.expected_snr_db, "y": 10 * np.log10(curve.expected)}
        low = np.maximum(curve.mean - 2 * curve.error, curve.mean / 10)
        self._measured.data = {
            "x": curve.entry_snr_db,
            "y": 10 * np.log10(curve.mean),
            "low": 10 * np.log10(low),
            "high": 10 * np.log10(curve.mean + 2 * curve.error),
        }
        self._now.data = {"x": [setting.entry_snr_db], "y": [10 * np.log10(view.nmse)]}


class AccuracyPicture:
    """Test accuracy against round."""

    def __init__(self) -> None:
        limits = {"x_range": Range1d(0, ROUNDS), "y_range": Range1d(0, 100)}
        self.figure = _figure("round", "test accuracy [%]", **limits)
        self._source = ColumnDataSource({"round": [], **{name: [] for name in ALGORITHMS}})
        for name in ALGORITHMS:
            colour, dash = LOOKS[name]
            look = {"color": colour, "line_dash": dash, "legend_label": style.ALGORITHMS[name]}
            self.figure.line("round", name, source=self._source, line_width=2.5, **look)
        _legend(self.figure, "bottom_right")

    def clear(self) -> None:
        """Remove all curves."""
        self._source.data = {name: [] for name in self._source.data}

    def add(self, number: int, accuracies: list[float]) -> None:
        """Add the accuracies of a round, one per algorithm."""
        percent = [[100 * accuracy] for accuracy in accuracies]
        self._source.stream({"round": [number], **dict(zip(ALGORITHMS, percent, strict=True))})

    @property
    def last(self) -> dict[str, float]:
        """Latest accuracies in percent by algorithm; empty before the first round."""
        return {
            style.ALGORITHMS[name]: float(self._source.data[name][-1])
            for name in ALGORITHMS
            if len(self._source.data[name])
        }
