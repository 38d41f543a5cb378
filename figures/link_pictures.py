"""Pictures of one round over a link: channels, constellations, spectrum, energy, error, PAPR.

Each function takes what :func:`~figures.link_view.look_at` returns, or a link, and returns a
Matplotlib figure. Colours stand for clients; the first four are drawn. The style is that of a
paper, unless :func:`figures.style.apply` has set another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any, ParamSpec

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy import signal

from figures import facets, style
from figures.link_view import LinkView, RadioView, look_at
from fl.api import Link
from otafl._base.decibels import to_db
from phy.impairments.theory import papr_ccdf

# fmt: off
__all__ = [
    "plot_carrier_error", "plot_channels", "plot_constellation", "plot_link", "plot_papr",
    "plot_spectrum", "plot_symbol_energy",
]
# fmt: on

P = ParamSpec("P")
MOST_POINTS = 400  # per cloud; more would only fill the plot
FLOOR_DB = -40.0  # of channels and errors that are drawn
OVERSAMPLED = 2.8  # independent samples per carrier with oversampling, a rule of thumb


def _in_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    @wraps(draw)
    def drawn(*arguments: P.args, **options: P.kwargs) -> Figure:
        with style.ensured():
            return draw(*arguments, **options)

    return drawn


@_in_style
def plot_channels(view: LinkView | Link, axes: Axes | None = None) -> Figure:
    """Draw abs(h)^2 of the channels over frequency, with the threshold of truncation.

    Dots are the clients' estimates, where these differ from the channels.
    """
    radio = _radio(view, "plot_channels")
    axes = _axes(axes)
    frequency, known = radio.grid.frequencies / 1e6, np.array_equal(radio.estimate, radio.strength)
    for client, colour, strength in _clients(radio.strength):
        axes.plot(frequency, to_db(strength), color=colour, label=f"client {client}")
    for _, colour, estimate in () if known else _clients(radio.estimate):
        axes.plot(frequency, to_db(estimate), ".", color=colour, markersize=1.5, alpha=0.6)
    if radio.threshold > 0:
        axes.axhline(to_db(radio.threshold), color=style.BLACK, linestyle=":", label="truncation")
    low = max(FLOOR_DB, to_db(np.maximum(radio.strength.min(), 1e-12)) - 3)
    axes.set(xlabel="frequency [MHz]", ylabel="$|h|^2$ [dB]", ylim=(low, None))
    return _legend(axes)


@_in_style
def plot_constellation(view: LinkView | Link) -> Figure:
    """Draw the resource elements at every stage, from what clients mean to the sum.

    A link without an OFDM grid shows the sum only.
    """
    view = _looked_at(view)
    radio = view.radio
    stages: dict[str, Callable[[Axes], None]] = {}
    if radio is not None:
        clouds = {
            "symbols": radio.symbols,
            "transmitted": radio.sent[: len(radio.symbols)],
            "arrived, each alone": radio.arrived,
        }
        for name, points in clouds.items():
            stages[name] = partial(_clouds, values=points)
    stages["the sum"] = partial(_sum, view=view)
    columns = len(stages)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    figure, grid = style.subplots(1, columns, width, 2.2 if columns > 1 else 3.2)
    for axes, (name, draw) in zip(grid[0], stages.items(), strict=True):
        draw(axes)
        axes.set(title=name, xlabel="I")
    grid[0, 0].set_ylabel("Q")
    facets.legend(figure, grid)
    return figure


@_in_style
def plot_spectrum(view: LinkView | Link, axes: Axes | None = None) -> Figure:
    """Draw the power spectral density of what leaves the antennas; guard bands are shaded.

    0 dB is the density of a client that spends its budget evenly over the carriers of data.
    """
    radio = _radio(view, "plot_spectrum")
    axes, grid = _axes(axes), radio.grid
    for client, colour, samples in _clients(radio.samples):
        frequency, density = signal.welch(
            samples,
            fs=grid.sampling_rate,
            window="hann",
            nperseg=min(grid.fft_size, len(samples)),
            detrend=False,
            return_onesided=False,
        )
        order = np.argsort(frequency)
        even = 1 / (grid.num_carriers * grid.subcarrier_spacing)
        shown = to_db(np.maximum(density[order] / even, 1e-9))
        label = f"client {client}"
        axes.plot(frequency[order] / 1e6, shown, color=colour, linewidth=0.9, label=label)
    half, spacing = grid.sampling_rate / 2e6, grid.subcarrier_spacing / 1e6
    first, last = grid.used_carriers[0] * spacing, grid.used_carriers[-1] * spacing
    guard: dict[str, Any] = {"color": "0.9", "linewidth": 0, "zorder": 0}
    axes.axvspan(-half, first, label="guard band", **guard)
    axes.axvspan(last, half, **guard)
    axes.set(xlabel="frequency [MHz]", ylabel="PSD relative to flat [dB]", xlim=(-half, half))
    axes.set_ylim(bottom=max(-70, axes.get_ylim()[0]))
    return _legend(axes)


@_in_style
def plot_symbol_energy(view: LinkView | Link, axes: Axes | None = None) -> Figure:
    """Draw the energy of each client in each OFDM symbol over its budget there."""
    view = _looked_at(view)
    axes = _axes(axes)
    count = view.load.shape[1]
    edges = np.arange(count + 1) + 0.5
    for load in view.load[len(style.CLIENTS) :]:
        axes.stairs(load, edges, baseline=None, color="0.75", linewidth=0.8)
    for client, colour, load in _clients(view.load):
        axes.stairs(load, edges, baseline=None, color=colour, label=f"client {client}")
    if len(view.load) > len(style.CLIENTS):
        axes.plot([], [], color="0.75", linewidth=0.8, label="others")
    axes.axhline(1, color=style.BLACK, linestyle=":", linewidth=1, label="budget")
    axes.set(xlabel="OFDM symbol" if count > 1 else "round", ylabel="energy / budget")
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    return _legend(axes)


@_in_style
def plot_carrier_error(view: LinkView | Link) -> Figure:
    """Draw, over frequency, the EVM of each client and the NMSE of the sum.

    The EVM is that of a client on its own without noise: what CSI, truncation and
    hardware cost. The NMSE is that of the sum, noise and corrections included.
    """
    radio = _radio(view, "plot_carrier_error")
    figure, grid = style.subplots(2, 1, style.COLUMN_WIDTH, 3.6, sharex=True)
    upper, lower = grid[:, 0]
    frequency = radio.grid.frequencies / 1e6
    for client, colour, evm in _clients(radio.evm):
        upper.plot(frequency, 100 * evm, color=colour, linewidth=0.9, label=f"client {client}")
    _carrier_nmse(lower, radio)
    upper.set(ylabel="EVM [%]", ylim=(0, None))
    figure.align_ylabels()
    return _legend(upper)


@_in_style
def plot_papr(view: LinkView | Link, axes: Axes | None = None) -> Figure:
    """Draw how often the PAPR of an OFDM symbol is exceeded, beside theory.

    All clients' symbols in digital baseband, before any hardware.
    """
    radio = _radio(view, "plot_papr")
    axes = _axes(axes)
    draw_papr(axes, radio.papr_db, "measured PAPR", {"color": style.BLACK})
    theory_papr(axes, len(radio.grid.used_carriers))
    return _legend(axes)


@_in_style
def plot_link(view: LinkView | Link) -> Figure:
    """Draw an overview of one round: channels, spectrum, PAPR, what arrives, the sum, its error."""
    view = _looked_at(view)
    radio = _radio(view, "plot_link")
    figure, grid = style.subplots(2, 3, style.PAGE_WIDTH, 4.3)
    plot_channels(view, grid[0, 0])
    plot_spectrum(view, grid[0, 1])
    plot_papr(view, grid[0, 2])
    _clouds(grid[1, 0], radio.arrived)
    _sum(grid[1, 1], view)
    _carrier_nmse(grid[1, 2], radio)
    titles = ("channels", "spectrum", "PAPR", "arrived, each alone", "the sum", "error of the sum")
    for axes, title in zip(grid.flat, titles, strict=True):
        axes.set_title(title)
    for axes in grid[1, :2]:
        axes.set(xlabel="I", ylabel="Q")
    figure.align_labels()
    facets.legend(figure, grid)
    return figure


def draw_papr(axes: Axes, papr_db: NDArray, label: str, look: dict) -> None:
    """Draw the fraction of symbols with a larger PAPR [dB]."""
    values = np.sort(np.asarray(papr_db, float).reshape(-1))
    values = values[np.isfinite(values)]
    if len(values):
        share = 1 - np.arange(len(values)) / len(values)
        axes.step(values, share, where="pre", label=label, **{**look, "marker": None})


def theory_papr(axes: Axes, num_carriers: int) -> None:
    """Draw P(PAPR > z) of independent samples, and label the axes."""
    drawn = [np.asarray(line.get_xdata(), float) for line in axes.lines]
    low = min([5.0, *(np.floor(each.min()) for each in drawn)])
    high = max([13.0, *(np.ceil(each.max()) for each in drawn)])
    ratio = np.linspace(low, high, 300)
    theory = ((1, "theory, Nyquist rate", ":"), (OVERSAMPLED, "2.8 N rule", "-"))
    for factor, name, line in theory:
        tail = papr_ccdf(10 ** (ratio / 10), factor * num_carriers)
        axes.plot(ratio, tail, line, color="0.5", linewidth=0.8, label=name)
    fewest = min((1 / np.size(each.get_xdata()) for each in axes.lines[:-2]), default=1e-3)
    axes.set(yscale="log", xlim=(low, high), ylim=(max(min(fewest, 0.1), 1e-5), 1.2))
    axes.set(xlabel="PAPR, oversampled [dB]", ylabel="P(PAPR > x)")


PICTURES: dict[str, Callable[..., Figure]] = {
    "overview": plot_link,
    "channels": plot_channels,
    "constellation": plot_constellation,
    "spectrum": plot_spectrum,
    "symbol_energy": plot_symbol_energy,
    "carrier_error": plot_carrier_error,
    "papr": plot_papr,
}
"""The pictures of a link, by the names of their files."""


def applicable(view: LinkView) -> dict[str, Callable[..., Figure]]:
    """Return the pictures that a link has."""
    if view.radio is not None:
        return PICTURES
    return {name: PICTURES[name] for name in ("constellation", "symbol_energy")}


def _looked_at(view: LinkView | Link) -> LinkView:
    return view if isinstance(view, LinkView) else look_at(view)


def _radio(view: LinkView | Link, name: str) -> RadioView:
    view = _looked_at(view)
    if view.radio is None:
        raise ValueError(
            f"{name} needs a link on an OFDM grid, OfdmLink or WaveformLink, got {view.name}"
        )
    return view.radio


def _axes(axes: Axes | None) -> Axes:
    return style.subplots(1, 1, style.COLUMN_WIDTH, 2.5)[1][0, 0] if axes is None else axes


def _clients(values: NDArray) -> Iterator[tuple[int, str, NDArray]]:
    """Yield number, colour and values of the clients that have a colour."""
    for client, (colour, each) in enumerate(zip(style.CLIENTS, values, strict=False)):
        yield client, colour, each


def _thinned(points: NDArray) -> NDArray:
    """Return the elements that hold data, at most so many that they can be told apart."""
    points = points.reshape(-1)
    points = points[np.isfinite(points.real)]
    return points[:: -(-len(points) // MOST_POINTS)] if len(points) else points


def _square(axes: Axes, radius: float) -> None:
    axes.set(xlim=(-radius, radius), ylim=(-radius, radius), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, symmetric=True))


def _radius(*clouds: NDArray) -> float:
    """Return a radius within which nearly all points lie."""
    points = np.concatenate([cloud.reshape(-1) for cloud in clouds])
    points = points[np.isfinite(points.real)]
    farthest = np.maximum(np.abs(points.real), np.abs(points.imag))
    return max(1.25 * float(np.quantile(farthest, 0.99)), 1e-6) if len(points) else 1.0


def _clouds(axes: Axes, values: NDArray) -> None:
    """Draw the points of each client, larger ones below smaller ones, so that all are visible."""
    for client, colour, points in _clients(values):
        cloud = _thinned(points)
        size = plt.rcParams["lines.markersize"] * (0.9 - 0.15 * client)
        axes.plot(
            cloud.real, cloud.imag, "o", color=colour, markersize=size, markeredgewidth=0,
            alpha=0.5, label=f"client {client}", rasterized=True,
        )  # fmt: skip
    _square(axes, _radius(values))


def _sum(axes: Axes, view: LinkView) -> None:
    truth, received = _thinned(view.true_sum), _thinned(view.received_sum)
    look: dict[str, Any] = {"markersize": 0.7 * plt.rcParams["lines.markersize"], "alpha": 0.6}
    axes.plot(
        truth.real, truth.imag, "o", color=style.BLACK, fillstyle="none", markeredgewidth=0.6,
        label="true sum", rasterized=True, **look,
    )  # fmt: skip
    axes.plot(
        received.real, received.imag, "o", color=style.PURPLE, markeredgewidth=0,
        label="received", rasterized=True, **look,
    )  # fmt: skip
    _square(axes, _radius(view.true_sum, view.received_sum))


def _carrier_nmse(axes: Axes, radio: RadioView) -> None:
    nmse = to_db(np.maximum(radio.carrier_nmse, 10 ** (FLOOR_DB / 10)))
    axes.plot(radio.grid.frequencies / 1e6, nmse, color=style.PURPLE, linewidth=0.9)
    axes.set(xlabel="frequency [MHz]", ylabel="NMSE of the sum [dB]")


def _legend(axes: Axes) -> Figure:
    """Put the legend above the figure, unless the axes are part of another one."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    if axes is figure.axes[0] and len(figure.axes) <= 2:
        facets.legend(figure, np.array([[axes]]))
    return figure
