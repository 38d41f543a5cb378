"""The cost of an impairment: accuracy and error of the sum, for every algorithm and SNR."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from figures import panels, style
from figures.accuracy_sweep import scale_axis


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return bool(study.attrs["impairment"]) and len(_others(study)) <= 1 and "nmse" in study


def _others(study: xr.Dataset) -> list[str]:
    """Return what else is swept besides the algorithms; at most one such dimension can be drawn."""
    return [d for d in panels.swept(study) if d not in (study.attrs["impairment"], "algorithm")]


def draw(study: xr.Dataset) -> Figure:
    """Draw a column per algorithm and a line per SNR, or per value of what else is swept.

    Where the lines of the lower row meet, the impairment and not the noise causes the error.
    """
    impairment = study.attrs["impairment"]
    runs = study.squeeze(panels.single(study), drop=True)
    at = np.arange(runs.sizes[impairment])
    if panels.numeric(runs, impairment):
        runs = runs.sortby(impairment)
        at = runs[impairment].values
    columns = list(panels.lines(runs, "algorithm" if "algorithm" in runs.dims else None))
    size, shared = (style.PAGE_WIDTH, 4.2), {"sharex": True, "sharey": "row"}
    figure, grid = plt.subplots(2, len(columns), figsize=size, squeeze=False, **shared)
    dim = next(iter(_others(study)), None)
    count = runs.sizes[dim] if dim else 1
    for (upper, lower), (name, _, part) in zip(grid.T, columns, strict=True):
        upper.set_title(name)
        for place, (_, look, run) in enumerate(panels.lines(part, dim)):
            shown = {**look, "color": plt.get_cmap("viridis")(0.9 * place / max(1, count - 1))}
            label = "" if dim is None else _short(runs[dim].values[place])
            _draw_line(upper, at, 100 * run["accuracy"], label, shown)
            _draw_line(lower, at, panels.median_nmse_db(run), label, shown)
        _mark(lower, runs, impairment)
    grid[0, 0].set_ylabel(panels.metric_label("accuracy", "%"))
    grid[1, 0].set_ylabel(panels.metric_label("nmse", "dB", "median over rounds"))
    figure.supxlabel(panels.axis_label(study, impairment), fontsize=8)
    if dim is not None:
        handles, labels = grid[0, 0].get_legend_handles_labels()
        title = panels.axis_label(study, dim)
        figure.legend(handles, labels, title=title, loc="outside upper center", ncols=count)
    return figure


def _draw_line(axes: Axes, at: np.ndarray, values: xr.DataArray, label: str, look: dict) -> None:
    """Draw the mean and the range over the seeds, each of which has other devices."""
    seeds = values if "seed" in values.dims else values.expand_dims("seed")
    low, high = seeds.min("seed").values, seeds.max("seed").values
    axes.fill_between(at, low, high, color=look["color"], alpha=0.15, linewidth=0)
    axes.plot(at, seeds.mean("seed").values, label=label, **look)


def _short(value: object) -> str:
    return str(value) if isinstance(value, str) else f"{value:.3g}"


def _mark(axes: Axes, runs: xr.Dataset, impairment: str) -> None:
    values = runs[impairment].values
    if not panels.numeric(runs, impairment):
        axes.set_xticks(np.arange(len(values)), [str(v).replace("_", " ") for v in values])
        axes.tick_params(axis="x", rotation=30)
        return
    scale_axis(axes, impairment, values)
    if impairment == "adc_bits":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
