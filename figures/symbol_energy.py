"""Energy in each OFDM symbol over its share of the budget, for the client that spends most."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from figures import panels, style
from scenarios.study.results import INNER


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    loaded = "symbol_load" in study and float(study["symbol_load"].max()) > 0
    return loaded and study.sizes["symbol"] > 1


def draw(study: xr.Dataset) -> Figure:
    """Draw the mean over the rounds, shaded up to the maximum, for one seed."""
    runs = panels.one_seed(study)
    dim = panels.line_dim(runs)
    figure, pairs = panels.panels(runs, dim)
    for axes, part in pairs:
        for label, look, run in panels.lines(part, dim):
            load = run["symbol_load"]
            if not float(load.max()) > 0:
                continue
            look.pop("marker")
            mean, most = load.mean("round").values, load.max("round").values
            edges = np.arange(len(mean) + 1) + 0.5
            axes.stairs(mean, edges, baseline=None, label=label, linewidth=1.2, **look)
            shade = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
            axes.stairs(most, edges, baseline=mean, fill=True, **shade)
        axes.axhline(1, color=style.BLACK, linestyle=":", linewidth=1)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    panels.outer_labels(pairs, INNER["symbol"], "energy / ($P/L$)")
    panels.legend(figure, pairs[0][0])
    return figure
