"""The bound of Theorem 2 and its four terms, above the measured gradient norm.

Only for runs to which the theorem applies: for others the study holds no bound.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from fl.metrics import BOUND

TERMS = {name: metric.label for name, metric in BOUND.items()}


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return all(term in study for term in TERMS)


def draw(study: xr.Dataset) -> Figure:
    """Draw the figure."""
    runs = panels.one_seed(study)
    figure, pairs = panels.panels(runs, None)
    for axes, part in pairs:
        terms = {label: part[name] for name, label in TERMS.items()}
        if not bool(part[next(iter(TERMS))].notnull().any()):
            axes.text(0.5, 0.5, "does not apply", transform=axes.transAxes, ha="center")
            continue
        rounds = part["round"].values
        axes.plot(rounds, sum(terms.values()), color=style.BLACK, label="bound, total")
        for place, (label, term) in enumerate(terms.items()):
            look = style.look(None, place + 1)
            look.pop("marker")
            axes.plot(rounds, term, label=label, linewidth=0.9, **look)
        measured = part["squared_gradient_norm"].values
        tested = ~np.isnan(measured)
        lowest = np.minimum.accumulate(measured[tested])
        axes.plot(rounds[tested], lowest, color=style.BLUE, linewidth=1.8, label="measured")
        axes.set(xscale="log", yscale="log")
    panels.outer_labels(pairs, "rounds $T$", r"$\min_{t<T}\,\|\nabla F(x_t)\|^2$")
    handles = next((axes for axes, _ in pairs if axes.lines), pairs[0][0])
    panels.legend(figure, handles)
    return figure
