"""One style for all figures: readable in a column of a paper, safe for colour-blind readers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from otafl._base.validation import choice

# M. Okabe and K. Ito, "Color Universal Design", 2008
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CLIENTS = (BLUE, RED, GREEN, ORANGE)
"""Colours of the clients in pictures of a link."""
COLUMN_WIDTH = 3.5
"""Width of a column in a two-column paper [inch]."""
PAGE_WIDTH = 7.16
"""Width of both columns [inch]."""
OUTPUT = {"savefig.dpi": 200, "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "otafl"}
"""Of files: TrueType, which IEEE and ACM ask for; the same figure gives the same file."""
STYLES = ("paper", "slides")
"""Sizes of text, lines and figures for a paper, and for a projector."""

ALGORITHMS = {"acpc": "ACPC-OTA-FL", "cotaf": "COTAF", "fedavg": "FedAvg", "fednova": "FedNova"}
"""Names of the algorithms that look the same in all figures."""
NAMES = {
    **ALGORITHMS,
    "fedprox": "FedProx",
    "fedavgm": "FedAvgM",
    "fedadam": "FedAdam",
    "fedyogi": "FedYogi",
    "scaffold": "SCAFFOLD",
    "adsgd": "A-DSGD",
    "sign-vote": "sign votes",
    "clipped-fedavg": "clipped FedAvg",
}
"""Names of all built-in algorithms."""

# Lines differ in colour, dash and marker, each sufficient on its own.
_LOOKS: list[dict] = [
    {"color": BLUE, "linestyle": "-", "marker": "o"},
    {"color": RED, "linestyle": "--", "marker": "s"},
    {"color": GREEN, "linestyle": "-.", "marker": "^"},
    {"color": PURPLE, "linestyle": ":", "marker": "D"},
    {"color": ORANGE, "linestyle": (0, (5, 1)), "marker": "v"},
    {"color": SKY, "linestyle": (0, (3, 1, 1, 1)), "marker": "P"},
    {"color": BLACK, "linestyle": (0, (1, 1)), "marker": "X"},
]

MOST_LOOKS = len(_LOOKS)
"""Lines beyond so many need the colours of a scale to be told apart."""


def look(value: object, place: int = 0, *, beside: bool = False) -> dict:
    """Return the style of a line.

    Parameters
    ----------
    value : object
        What the line stands for; an algorithm of :data:`ALGORITHMS` looks the same in all figures.
    place : int
        The index of the line.
    beside : bool
        Whether lines of these algorithms are in the same figure: others then look different.
    """
    names = list(ALGORITHMS)
    number = names.index(value) if value in names else place + beside * len(names)
    return dict(_LOOKS[number % MOST_LOOKS])


def shade(place: int, count: int) -> tuple[float, ...]:
    """Return a colour of a scale from dark to light, for values that have an order."""
    return plt.get_cmap("viridis")(0.9 * place / max(1, count - 1))


def _files(name: str) -> list[Path]:
    choice("style", name, STYLES)
    names = ["otafl"] if name == "paper" else ["otafl", name]
    return [Path(__file__).with_name(f"{each}.mplstyle") for each in names]


def apply(name: str = "paper") -> None:
    """Set Matplotlib's parameters."""
    plt.style.use(_files(name))


def context(name: str = "paper") -> AbstractContextManager[None]:
    """Set Matplotlib's parameters for the duration of a ``with`` block."""
    return plt.style.context(_files(name))


def ensured() -> AbstractContextManager[None]:
    """Set Matplotlib's parameters for a ``with`` block, unless one of the styles is in force."""
    return nullcontext() if plt.rcParams["svg.hashsalt"] == OUTPUT["svg.hashsalt"] else context()


class HouseFigure(Figure):
    """A figure that is saved in the style in which it was drawn, whatever is in force by then."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Save the figure; see :meth:`matplotlib.figure.Figure.savefig`."""
        with plt.rc_context(OUTPUT):
            super().savefig(*arguments, **options)


def subplots(rows: int, columns: int, width: float, height: float, **options: Any) -> Any:
    """Make a figure of a size as in a paper [inch]; return it and its axes, [rows, columns]."""
    options |= {"figsize": size(width, height), "squeeze": False, "FigureClass": HouseFigure}
    return plt.subplots(rows, columns, **options)


def size(width: float, height: float) -> tuple[float, float]:
    """Return the size of a figure, given as in a paper [inch], in the current style."""
    # the default figure is one column wide
    scale = plt.rcParams["figure.figsize"][0] / COLUMN_WIDTH
    return width * scale, height * scale


def marker_size() -> float:
    """Return the size of markers in the current style [points]."""
    return float(plt.rcParams["lines.markersize"])


def line_width(factor: float) -> float:
    """Return the width of lines in the current style [points], times a factor."""
    return factor * float(plt.rcParams["lines.linewidth"])


def describe(figure: Figure, caption: str) -> Figure:
    """Keep a caption with a figure; it is saved beside the figure and in its metadata."""
    figure.set_label(caption)
    return figure


def caption_of(figure: Figure) -> str:
    """Return the caption of a figure; empty if it has none."""
    return str(figure.get_label() or "")
