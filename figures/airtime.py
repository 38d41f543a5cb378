"""Accuracy against its cost: time on the air, and energy of all clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from figures import facets, style
from figures.quantities import ROUND, metric_label, metric_of, metric_values, value_label
from figures.roles import single, swept, without_surplus

KINDS = {"ofdm": "over the air", "orthogonal": "orthogonal digital"}
METRICS = ("airtime", "radiated_energy")


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    linked = "link" in swept(study) and "airtime" in study
    return linked and "orthogonal" in study["link"].values


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw means over the seeds: one colour per link, one shade per value of what else is swept."""
    study = without_surplus(study, "link", 1, on_note)
    study = study.squeeze(single(study, ("link",)))
    dim = next((each for each in swept(study) if each != "link"), None)
    labels = [metric_label(metric_of(study, name), over_rounds=False) for name in METRICS]
    figure, grid = facets.make([""], ["", ""], 2.2, share_x=False)
    accuracy = _mean(metric_values(study, "test_accuracy", (ROUND,)))
    costs = [_mean(metric_values(study, name, (ROUND,))) for name in METRICS]
    values: list[Any] = [None] if dim is None else study[dim].values.tolist()
    for place, kind in enumerate(study["link"].values):
        look = style.look(kind, place)
        look.pop("marker")
        for number, value in enumerate(values):
            chosen = {"link": kind} | ({} if dim is None else {dim: value})
            shade = (number + 1) / len(values)
            look |= {"alpha": 0.35 + 0.65 * shade, "linewidth": style.line_width(0.5 + 0.7 * shade)}
            name = KINDS.get(str(kind), str(kind))
            if dim is not None:
                name = f"{name}, {value_label(study, dim, value)}"
            y = accuracy.sel(chosen).values
            tested = ~xr.DataArray(y).isnull().values
            for axes, cost in zip(grid[0], costs, strict=True):
                axes.plot(cost.sel(chosen).values[tested], y[tested], label=name, **look)
    for axes, label in zip(grid[0], labels, strict=True):
        axes.set(xscale="log", xlabel=label)
    grid[0, 0].set_ylabel(metric_label(metric_of(study, "test_accuracy"), over_rounds=False))
    facets.legend(figure, grid)
    facets.fit(figure)
    caption = f"{study.attrs['title']}: test accuracy against time on the air and radiated energy"
    return style.describe(figure, f"{caption}; means over {study.sizes.get('seed', 1)} seeds.")


def _mean(values: xr.DataArray) -> xr.DataArray:
    return values.mean("seed") if "seed" in values.dims else values
