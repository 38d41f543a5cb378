"""One style for all figures: readable in a column of a paper, safe for colour-blind readers."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

# M. Okabe and K. Ito, "Color Universal Design", 2008
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
COLUMN_WIDTH = 3.5
"""Width of a column in a two-column paper [inch]."""
PAGE_WIDTH = 7.16
"""Width of both columns [inch]."""

ALGORITHMS = {"acpc": "ACPC-OTA-FL", "cotaf": "COTAF", "fedavg": "FedAvg", "fednova": "FedNova"}

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


def look(value: object, place: int = 0, count: int = 1, beside: bool = False) -> dict:
    """Return the style of a line.

    Parameters
    ----------
    value : object
        What the line stands for; an algorithm of ours looks the same in all figures.
    place, count : int
        The index of the line, and the number of lines.
    beside : bool
        Whether lines of our own algorithms are in the same figure: others then look different.
    """
    names = list(ALGORITHMS)
    number = names.index(value) if value in names else place + beside * len(names)
    chosen = dict(_LOOKS[number % len(_LOOKS)])
    if count > len(_LOOKS):
        chosen["color"] = plt.get_cmap("viridis")(0.9 * place / (count - 1))
    return chosen


def apply() -> None:
    """Set Matplotlib's parameters."""
    plt.style.use(Path(__file__).with_name("otafl.mplstyle"))
