"""The bound of Theorem 2 and its four terms, above the measured gradient norm.

Only for runs to which the theorem applies: for others the study holds no bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import facets, panels, style
from figures.quantities import ROUND
from figures.roles import Roles, one_seed, single, swept, thin, without_surplus
from fl.metrics import BOUND

TERMS = {name: metric.label for name, metric in BOUND.items()}


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return all(term in study for term in TERMS)


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw the figure."""
    runs = without_surplus(one_seed(study), ROUND, 2, on_note)
    col, row = [*swept(runs), None, None][:2]
    roles = Roles(ROUND, ("squared_gradient_norm",), None, col, row)
    runs = thin(runs, roles, on_note)
    runs = runs.squeeze(single(runs, (col, row)))
    figure, grid = panels.make(runs, roles)
    for axes, _, part in panels.each(grid, runs, roles):
        terms = {label: part[name] for name, label in TERMS.items()}
        if not bool(part[next(iter(TERMS))].notnull().any()):
            axes.text(0.5, 0.5, "does not apply", transform=axes.transAxes, ha="center")
            continue
        rounds = part["round"].values
        axes.plot(rounds, sum(terms.values()), color=style.BLACK, label="bound, total")
        for place, (label, term) in enumerate(terms.items()):
            look = style.look(None, place + 1)
            look.pop("marker")
            axes.plot(rounds, term, label=label, linewidth=style.line_width(0.75), **look)
        measured = part["squared_gradient_norm"].values
        tested = ~np.isnan(measured)
        lowest = np.minimum.accumulate(measured[tested])
        bold = style.line_width(1.5)
        axes.plot(rounds[tested], lowest, color=style.BLUE, linewidth=bold, label="measured")
        axes.set(xscale="log", yscale="log")
    facets.label_axes(figure, grid, ["rounds $T$"], [r"$\min_{t<T}\,\|\nabla F(x_t)\|^2$"])
    facets.legend(figure, grid)
    facets.fit(figure)
    caption = "the bound of Theorem 2 and its terms, and the smallest measured gradient; one seed"
    return style.describe(figure, f"{study.attrs['title']}: {caption}.")
