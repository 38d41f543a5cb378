"""The pictures of the page, whose data are replaced in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Span, Whisker
from bokeh.plotting import figure
from numpy.typing import NDArray

from figures import style
from scenarios.demo.linkview import SHOWN_CLIENTS, SYMBOLS, LinkView
from scenarios.demo.setting import Setting
from scenarios.demo.training import ALGORITHMS, ROUNDS

COLOURS = (style.BLUE, style.RED, style.GREEN, style.ORANGE)
OTHERS = "#c9ced6"
INK, GRID = "#30363d", "#e8ebef"
LOOKS = {
    "acpc": (style.BLUE, "solid"),
    "cotaf": (style.RED, "dashed"),
    "fedavg": (style.GREEN, "dotdash"),
}


def _figure(x: str, y: str, **options: Any) -> figure:
    settings: dict[str, Any] = {
        "sizing_mode": "stretch_width",
        "height": 270,
        "toolbar_location": None,
        "tools": "",
        "x_axis_label": x,
        "y_axis_label": y,
        "outline_line_color": None,
        "background_fill_color": None,
        "border_fill_color": None,
        "output_backend": "canvas",
    }
    made = figure(**settings | options)
    for axis in made.axis:
        axis.update(
            axis_line_color="#9aa2ad",
            major_tick_line_color="#9aa2ad",
            minor_tick_line_color=None,
            major_label_text_color=INK,
            axis_label_text_color=INK,
            axis_label_text_font_style="normal",
            axis_label_text_font_size="12px",
        )
    for lines in made.grid:
        lines.grid_line_color = GRID
    return made


def _legend(made: figure, place: str) -> None:
    """Inside, at a place where no data are; or "above" the picture."""
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


class Constellation:
    """Points in the complex plane, on axes of equal scale."""

    def __init__(self, unit: str) -> None:
        self._x, self._y = Range1d(-1, 1), Range1d(-1, 1)
        self.figure = _figure(
            f"I {unit}".strip(), f"Q {unit}".strip(), x_range=self._x, y_range=self._y, height=300
        )

    def points(self, **look: Any) -> ColumnDataSource:
        source = ColumnDataSource({"x": [], "y": []})
        self.figure.scatter("x", "y", source=source, **look)
        return source

    def reach(self, radius: float) -> None:
        self._x.update(start=-radius, end=radius)
        self._y.update(start=-radius, end=radius)


def _plane(points: NDArray[np.complex64]) -> dict[str, NDArray]:
    return {"x": points.real.copy(), "y": points.imag.copy()}


def _radius(*clouds: NDArray[np.complex64], least: float) -> float:
    """So that nearly all points are seen."""
    points = np.concatenate([cloud.ravel() for cloud in clouds])
    farthest = np.maximum(np.abs(points.real), np.abs(points.imag))
    return max(1.15 * float(np.quantile(farthest, 0.98)), least)


class Pictures:
    """Of one round; ``figures`` by the names that the page has for them."""

    def __init__(self) -> None:
        self._channels = self._make_channels()
        self._sent, self._sent_points = self._make_clients("/ allowed rms", (4, 4, 4, 4))
        # where clients agree, all of them are to be seen
        self._arrived, self._arrived_points = self._make_clients("", (11, 8, 5.5, 3))
        self._make_sum()
        self._make_scatter()
        self._make_energy()
        self._make_error()
        self.figures = {
            "channels": self._channel_figure,
            "sent": self._sent.figure,
            "arrived": self._arrived.figure,
            "sum": self._sum.figure,
            "scatter": self._scatter_figure,
            "energy": self._energy_figure,
            "error": self._error_figure,
        }

    def _make_channels(self) -> list[tuple[ColumnDataSource, ColumnDataSource]]:
        made = _figure("frequency [MHz]", "|h|² [dB]", y_range=Range1d(-30, 12), height=300)
        made.x_range.range_padding = 0
        sources = []
        for client, colour in enumerate(COLOURS):
            true, seen = (ColumnDataSource({"x": [], "y": []}) for _ in range(2))
            made.scatter("x", "y", source=seen, color=colour, size=2, alpha=0.5)
            made.line(
                "x",
                "y",
                source=true,
                color=colour,
                line_width=2,
                legend_label=f"client {client + 1}",
            )
            sources.append((true, seen))
        self._threshold = Span(location=0, dimension="width", line_dash="dashed", line_color=INK)
        made.add_layout(self._threshold)
        _legend(made, "above")
        self._channel_figure = made
        return sources

    @staticmethod
    def _make_clients(
        unit: str, sizes: tuple[float, ...]
    ) -> tuple[Constellation, list[ColumnDataSource]]:
        made = Constellation(unit)
        return made, [
            made.points(color=colour, size=size, alpha=0.6, line_color=None)
            for colour, size in zip(COLOURS, sizes, strict=True)
        ]

    def _make_sum(self) -> None:
        self._sum = Constellation("")
        self._sum_true = self._sum.points(
            fill_color=None,
            line_color=INK,
            line_alpha=0.55,
            size=11,
            legend_label="true sum",
        )
        self._sum_received = self._sum.points(
            color=style.BLUE, size=4, alpha=0.6, legend_label="received"
        )
        _legend(self._sum.figure, "above")

    def _make_scatter(self) -> None:
        limits = Range1d(-1, 1), Range1d(-1, 1)
        made = _figure(
            "true sum of an entry", "received", x_range=limits[0], y_range=limits[1], height=300
        )
        self._diagonal = ColumnDataSource({"x": [], "y": []})
        made.line("x", "y", source=self._diagonal, color=INK, line_dash="dashed")
        self._pairs = ColumnDataSource({"x": [], "y": []})
        made.scatter("x", "y", source=self._pairs, color=style.BLUE, size=4, alpha=0.5)
        self._scatter_figure, self._scatter_limits = made, limits

    def _make_energy(self) -> None:
        made = _figure("OFDM symbol", "energy / budget", y_range=Range1d(0, 1.12), height=300)
        made.xaxis.ticker = list(range(1, SYMBOLS + 1))
        made.xgrid.grid_line_color = None
        self._bars = ColumnDataSource({"x": [], "top": [], "width": [], "colour": []})
        made.vbar("x", top="top", width="width", color="colour", line_color=None, source=self._bars)
        made.add_layout(Span(location=1, dimension="width", line_dash="dashed", line_color=INK))
        self._energy_figure = made

    def _make_error(self) -> None:
        made = _figure("SNR of an entry [dB]", "NMSE of the sum [dB]", height=300)
        self._theory = ColumnDataSource({"x": [], "y": []})
        made.line(
            "x",
            "y",
            source=self._theory,
            color=INK,
            line_width=2,
            legend_label="closed form, no hardware faults",
        )
        self._measured = ColumnDataSource({"x": [], "y": [], "low": [], "high": []})
        made.scatter(
            "x", "y", source=self._measured, color=style.RED, size=7, legend_label="measured, mean"
        )
        made.add_layout(
            Whisker(
                base="x",
                lower="low",
                upper="high",
                source=self._measured,
                line_color=style.RED,
                upper_head=None,
                lower_head=None,
            )
        )
        self._now = ColumnDataSource({"x": [], "y": []})
        made.scatter(
            "x",
            "y",
            source=self._now,
            marker="diamond",
            fill_color=style.BLUE,
            line_color="white",
            size=15,
            legend_label="this round",
        )
        _legend(made, "top_right")
        self._error_figure = made

    def show(self, setting: Setting, view: LinkView) -> None:
        self._show_channels(setting, view)
        for source, points in self._each(self._sent_points, view.sent):
            source.data = _plane(points[points != 0])
        for source, points in self._each(self._arrived_points, view.arrived):
            source.data = _plane(points)
        self._sent.reach(_radius(view.sent, least=1.6))
        self._arrived.reach(_radius(view.arrived, least=1.9))
        self._sum_true.data = _plane(np.unique(view.true_sum))
        self._sum_received.data = _plane(view.received_sum)
        self._sum.reach(_radius(view.true_sum, view.received_sum, least=1.6))
        self._show_scatter(view)
        self._show_energy(view)
        self._show_error(setting, view)

    def _show_channels(self, setting: Setting, view: LinkView) -> None:
        known = setting.csi_error == 0
        for (true, seen), strength in self._each(self._channels, view.strength):
            true.data = {"x": view.frequency, "y": 10 * np.log10(strength)}
            seen.data = {"x": [], "y": []}
        if not known:
            for (_, seen), estimate in self._each(self._channels, view.estimate):
                seen.data = {"x": view.frequency, "y": 10 * np.log10(estimate)}
        self._threshold.visible = setting.truncation > 0
        self._threshold.location = 10 * np.log10(max(setting.truncation, 1e-4))

    @staticmethod
    def _each(sources: list, values: NDArray) -> list[tuple[Any, NDArray]]:
        """Clients that there are not have nothing to show."""
        empty = values[:0].ravel()
        return [
            (source, values[place] if place < len(values) else empty)
            for place, source in enumerate(sources)
        ]

    def _show_scatter(self, view: LinkView) -> None:
        true, received = (
            np.concatenate([points.real, points.imag])
            for points in (view.true_sum, view.received_sum)
        )
        self._pairs.data = {"x": true, "y": received}
        across = 1.15 * float(np.abs(true).max(initial=1.0))
        up = max(across, 1.1 * float(np.quantile(np.abs(received), 0.99)))
        self._diagonal.data = {"x": [-across, across], "y": [-across, across]}
        for limits, reach in zip(self._scatter_limits, (across, up), strict=True):
            limits.update(start=-reach, end=reach)

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
        made = _figure(
            "round",
            "test accuracy [%]",
            x_range=Range1d(0, ROUNDS),
            y_range=Range1d(0, 100),
            height=300,
        )
        self._source = ColumnDataSource({"round": [], **{name: [] for name in ALGORITHMS}})
        for name in ALGORITHMS:
            colour, dash = LOOKS[name]
            made.line(
                "round",
                name,
                source=self._source,
                color=colour,
                line_dash=dash,
                line_width=2.5,
                legend_label=style.ALGORITHMS[name],
            )
        _legend(made, "bottom_right")
        self.figure = made

    def clear(self) -> None:
        self._source.data = {name: [] for name in self._source.data}

    def add(self, number: int, accuracies: list[float]) -> None:
        percent = {
            name: [100 * accuracy] for name, accuracy in zip(ALGORITHMS, accuracies, strict=True)
        }
        self._source.stream({"round": [number], **percent})

    @property
    def last(self) -> dict[str, float]:
        """Percent, by the algorithms' names; nothing before the first round."""
        return {
            style.ALGORITHMS[name]: float(self._source.data[name][-1])
            for name in ALGORITHMS
            if len(self._source.data[name])
        }
