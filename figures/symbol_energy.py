"""Energy in each OFDM symbol over its share of the budget, for the client that spends most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from figures import facets, kinds, panels, style
from figures.quantities import ROUND
from figures.roles import assign, one_seed, single, thin, without_surplus
from scenarios.study.results import INNER

WIDE = 100.0  # a ratio of energies above which decades alone are marked


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    loaded = "symbol_load" in study and float(study["symbol_load"].max()) > 0
    return loaded and study.sizes["symbol"] > 1


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw the mean over the rounds, shaded up to the maximum, for one seed."""
    study = without_surplus(one_seed(study), ROUND, 3, on_note)
    roles = assign(study, ROUND, ["symbol_load"], None, None, None)
    study = thin(study, roles, on_note)
    study = study.squeeze(single(study, (roles.hue, roles.col, roles.row)))
    figure, grid = panels.make(study, roles)
    for axes, _, part in panels.each(grid, study, roles):
        for label, look, chosen in kinds.looks(part, roles.hue):
            load = part["symbol_load"].sel(chosen)
            if not float(load.max()) > 0:
                continue
            look.pop("marker")
            mean, most = load.mean("round").values, load.max("round").values
            edges = np.arange(len(mean) + 1) + 0.5
            axes.stairs(mean, edges, baseline=None, label=label, **look)
            shade = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
            axes.stairs(most, edges, baseline=mean, fill=True, **shade)
        axes.axhline(1, color=style.BLACK, linestyle=":", label="budget")
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < WIDE * low else (1,)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    facets.label_axes(figure, grid, [INNER["symbol"]], ["energy / ($P/L$)"])
    facets.legend(figure, grid)
    facets.fit(figure)
    caption = "energy in each OFDM symbol over its share of the budget, of the client that spends"
    words = "lines: mean over the rounds, shaded up to the largest; one seed"
    return style.describe(figure, f"{study.attrs['title']}: {caption} most; {words}.")
