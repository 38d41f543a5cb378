"""The plots of a round; their data are replaced in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, Range1d, Whisker
from bokeh.plotting import figure
from numpy.typing import NDArray

from figures import style
from figures.link_view import LENGTH, SHOWN_CLIENTS
from otafl._base.decibels import to_db
from otafl.demo import plots
from otafl.demo.plots import INK, add, fill, fill_plane
from otafl.demo.snapshot import Snapshot
from phy import OfdmGrid

OTHERS = "#c9ced6"
SYMBOLS = LENGTH // (2 * OfdmGrid().num_carriers)
# more elements would only fill the plots; a choice at random favours no carrier
SHOWN_ELEMENTS = np.sort(np.random.default_rng(0).permutation(LENGTH // 2)[:250])


class Pictures:
    """The plots of one round; ``figures`` holds them by their name in the page."""

    def __init__(self) -> None:
        sent, self._sent = _clouds("I / allowed rms", "Q / allowed rms", (4, 4, 4, 4))
        # so that all clients are visible where they coincide
        arrived, self._arrived = _clouds("I", "Q", (11, 8, 5.5, 3))
        self.figures = {
            "channels": self._make_channels(),
            "sent": sent,
            "arrived": arrived,
            "sum": self._make_sum(),
            "scatter": self._make_scatter(),
            "energy": self._make_energy(),
            "error": self._make_error(),
        }

    def _make_channels(self) -> figure:
        made = plots.plot("frequency [MHz]", "|h|² [dB]", y_range=Range1d(-30, 12))
        made.x_range.range_padding = 0
        self._estimates = [
            add(made, "scatter", color=colour, size=2, alpha=0.5) for colour in style.CLIENTS
        ]
        self._channels = [
            add(made, "line", color=colour, line_width=2, legend_label=name)
            for colour, name in zip(style.CLIENTS, _labels(), strict=True)
        ]
        self._threshold = plots.level_line(made, 0)
        self._client_entries = plots.legend(made)
        return made

    def _make_sum(self) -> figure:
        made = plots.centred("I", "Q")
        look: dict[str, Any] = {"fill_color": None, "line_color": INK, "line_alpha": 0.55}
        self._sum_true = add(made, "scatter", legend_label="true sum", size=11, **look)
        look = {"color": style.BLUE, "size": 4, "alpha": 0.6}
        self._sum_received = add(made, "scatter", legend_label="received", **look)
        plots.legend(made)
        return made

    def _make_scatter(self) -> figure:
        made = plots.centred("true sum, per entry", "received")
        self._diagonal = add(made, "line", color=INK, line_dash="dashed")
        self._pairs = add(made, "scatter", color=style.BLUE, size=4, alpha=0.5)
        return made

    def _make_energy(self) -> figure:
        made = plots.plot("OFDM symbol", "energy / budget", y_range=Range1d(0, 1.12))
        made.xaxis.ticker = list(range(1, SYMBOLS + 1))
        made.xgrid.grid_line_color = None
        self._bars = ColumnDataSource({"x": [], "top": [], "width": [], "colour": []})
        made.vbar("x", top="top", width="width", color="colour", line_color=None, source=self._bars)
        plots.level_line(made, 1)
        return made

    def _make_error(self) -> figure:
        made = plots.plot("entry SNR [dB]", "NMSE of the sum [dB]")
        self._theory = add(made, "line", color=INK, line_width=2, legend_label="theory")
        look: dict[str, Any] = {"color": style.RED, "size": 7, "legend_label": "measured"}
        self._measured = add(made, "scatter", "low", "high", **look)
        bars = Whisker(base="x", lower="low", upper="high", source=self._measured.data_source)
        bars.update(line_color=style.RED, upper_head=None, lower_head=None)
        made.add_layout(bars)
        look = {"marker": "diamond", "color": style.BLUE, "size": 14}
        self._now = add(made, "scatter", legend_label="this round", **look)
        self._theory_entry, *_ = plots.legend(made)
        return made

    def show(self, shown: Snapshot) -> None:
        """Replace the data of all plots."""
        radio = shown.radio
        sent, arrived, true_sum, received_sum = (
            elements.reshape(*elements.shape[:-2], -1)[..., SHOWN_ELEMENTS]
            for elements in (radio.sent, radio.arrived, radio.true_sum, radio.received_sum)
        )
        sent = sent[:SHOWN_CLIENTS]
        self._show_channels(shown)
        _show_clouds(self._sent, [points[points != 0] for points in sent])
        _show_clouds(self._arrived, list(arrived))
        fill_plane(self._sum_true, np.unique(true_sum))
        fill_plane(self._sum_received, received_sum)
        for name, radius in (
            ("sent", plots.radius(sent, least=1.6)),
            ("arrived", plots.radius(arrived, least=1.9)),
            ("sum", plots.radius(true_sum, received_sum, least=1.6)),
        ):
            plots.reach(self.figures[name], radius, radius)
        self._show_scatter(true_sum, received_sum)
        self._show_energy(shown.view.load)
        self._show_error(shown)

    def _show_channels(self, shown: Snapshot) -> None:
        radio, setting = shown.radio, shown.setting
        frequency, count = radio.grid.frequencies / 1e6, len(radio.strength)
        estimated = count if setting.csi_error else 0  # not shown where it is right
        for renderers, strengths in (
            (self._channels, radio.strength),
            (self._estimates, radio.estimate[:estimated]),
        ):
            for renderer, strength in zip(renderers, strengths, strict=False):
                fill(renderer, frequency, to_db(strength))
            _keep(renderers, len(strengths))
        for number, entry in enumerate(self._client_entries):
            entry.visible = number < count
        self._threshold.visible = setting.truncation > 0
        self._threshold.location = float(to_db(max(setting.truncation, 1e-4)))

    def _show_scatter(self, true_sum: NDArray, received_sum: NDArray) -> None:
        true, received = (
            np.concatenate([points.real, points.imag]) for points in (true_sum, received_sum)
        )
        fill(self._pairs, true, received)
        across = 1.15 * float(np.abs(true).max(initial=1.0))
        up = max(across, 1.1 * float(np.quantile(np.abs(received), 0.99)))
        ends = np.array([-across, across])
        fill(self._diagonal, ends, ends)
        plots.reach(self.figures["scatter"], across, up)

    def _show_energy(self, load: NDArray) -> None:
        clients = len(load)
        width = 0.8 / clients
        client, symbol = np.indices(load.shape)
        self._bars.data = {
            "x": (symbol + 1 + (client - (clients - 1) / 2) * width).ravel(),
            "top": load.ravel(),
            "width": np.full(load.size, 0.88 * width),
            "colour": np.array([*style.CLIENTS, OTHERS])[np.minimum(client, SHOWN_CLIENTS)].ravel(),
        }

    def _show_error(self, shown: Snapshot) -> None:
        curve = shown.curve
        known = np.isfinite(curve.expected)
        fill(self._theory, curve.expected_snr_db[known], to_db(curve.expected[known]))
        self._theory_entry.visible = self._theory.visible = bool(known.any())
        low = np.maximum(curve.mean - 2 * curve.error, curve.mean / 10)
        fill(
            self._measured,
            curve.entry_snr_db,
            to_db(curve.mean),
            low=to_db(low),
            high=to_db(curve.mean + 2 * curve.error),
        )
        fill(self._now, np.array([shown.setting.entry_snr_db]), np.array([to_db(shown.nmse)]))


def _labels() -> list[str]:
    """Return short labels, since four of them share the width of a plot."""
    return ["client 1", *map(str, range(2, SHOWN_CLIENTS + 1))]


def _clouds(x: str, y: str, sizes: tuple[float, ...]) -> tuple[figure, list[GlyphRenderer]]:
    """Return a complex plane with the points of each client."""
    made = plots.centred(x, y)
    return made, [
        add(made, "scatter", color=colour, size=size, alpha=0.6, line_color=None)
        for colour, size in zip(style.CLIENTS, sizes, strict=True)
    ]


def _show_clouds(renderers: Sequence[GlyphRenderer], clouds: Sequence[NDArray]) -> None:
    for renderer, points in zip(renderers, clouds, strict=False):
        fill_plane(renderer, points)
    _keep(renderers, len(clouds))


def _keep(renderers: Sequence[GlyphRenderer], count: int) -> None:
    """Hide what belongs to clients that do not exist."""
    for number, renderer in enumerate(renderers):
        renderer.visible = number < count
