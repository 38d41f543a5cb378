"""Accuracy against time on the air, if rounds take some algorithms longer than others."""

from __future__ import annotations

from collections.abc import Callable

import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from figures import facets, style
from figures.quantities import ROUND, metric_label, metric_of, metric_values, value_label
from figures.roles import NAMED, single, swept, without_surplus

UNEQUAL = 1.01
"""Ratio of the airtimes of a round above which they differ."""


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data, and no more lines than can be told apart."""
    dim = _compared(study)
    if (
        dim is None
        or study.sizes[dim] > style.MOST_LOOKS
        or "airtime" not in study
        or study["test_accuracy"].isnull().all()
    ):
        return False
    others = [each for each in study["airtime"].dims if each != dim]
    first = study["airtime"].isel({ROUND: 0}).mean([each for each in others if each != ROUND])
    return bool(first.min() > 0 and first.max() > UNEQUAL * first.min())


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw means over the seeds: a line per algorithm, a panel per value of what else is swept."""
    hue = _compared(study)
    assert hue is not None
    study = without_surplus(study, hue, 1, on_note)
    study = study.squeeze(single(study, (hue,)))
    col = next((dim for dim in swept(study) if dim != hue), None)
    values = [None] if col is None else study[col].values.tolist()[: facets.MAX_PANELS]
    headings = [""] if col is None else [value_label(study, col, value) for value in values]
    figure, grid = facets.make([""], headings, 2.2)
    accuracy = _mean(metric_values(study, "test_accuracy", (ROUND,)))
    airtime = _mean(metric_values(study, "airtime", (ROUND,)))
    tests = airtime.where(accuracy.notnull())
    wide = tests.max() >= facets.WIDE * tests.min()
    for axes, value in zip(grid[0], values, strict=True):
        for place, name in enumerate(study[hue].values.tolist()):
            chosen = {hue: name} | ({} if col is None else {col: value})
            y = accuracy.sel(chosen)
            tested = y.notnull().values
            look = {**style.look(name, place), "marker": ""}
            x = airtime.sel(chosen).values[tested]
            axes.plot(x, y.values[tested], label=style.ALGORITHMS.get(name, name), **look)
        if wide:
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5))
    metrics = [metric_of(study, name) for name in ("airtime", "test_accuracy")]
    x_label, y_label = (metric_label(metric, over_rounds=False) for metric in metrics)
    facets.label_axes(figure, grid, [x_label], [y_label])
    facets.legend(figure, grid)
    facets.fit(figure)
    caption = f"{study.attrs['title']}: test accuracy against time on the air"
    return style.describe(figure, f"{caption}; means over {study.sizes.get('seed', 1)} seeds.")


def _compared(study: xr.Dataset) -> str | None:
    """Return the dimension of what is compared: studies, variants or algorithms."""
    return next((dim for dim in NAMED if dim in swept(study)), None)


def _mean(values: xr.DataArray) -> xr.DataArray:
    return values.mean("seed") if "seed" in values.dims else values
