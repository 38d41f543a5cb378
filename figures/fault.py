"""What a fault costs: accuracy and error of the sum against it, for every algorithm and SNR."""

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
    return bool(study.attrs["fault"]) and len(_others(study)) <= 1 and "nmse" in study


def _others(study: xr.Dataset) -> list[str]:
    """What else is swept, beside the algorithms: one such dimension tells lines apart."""
    return [d for d in panels.swept(study) if d not in (study.attrs["fault"], "algorithm")]


def draw(study: xr.Dataset) -> Figure:
    """A column for every algorithm and a line for every SNR, or of what else is swept; where the
    lower lines meet, the fault and not the noise makes the error.
    """
    fault = study.attrs["fault"]
    runs = study.squeeze(panels.single(study), drop=True)
    if panels.numeric(runs, fault):
        runs = runs.sortby(fault)
    columns = list(panels.lines(runs, "algorithm" if "algorithm" in runs.dims else None))
    figure, grid = plt.subplots(
        2,
        len(columns),
        figsize=(style.PAGE_WIDTH, 4.2),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    dim = next(iter(_others(study)), None)
    count = 1 if dim is None else runs.sizes[dim]
    for (upper, lower), (name, _, part) in zip(grid.T, columns, strict=True):
        upper.set_title(name)
        for place, (_, look, run) in enumerate(panels.lines(part, dim)):
            shown = {**look, "color": plt.get_cmap("viridis")(0.9 * place / max(1, count - 1))}
            label = "" if dim is None else _short(runs[dim].values[place])
            at = _places(runs, fault)
            decibels = 10 * xr.apply_ufunc(np.log10, run["nmse"].median("round"))
            for axes, values in ((upper, 100 * run["accuracy"]), (lower, decibels)):
                _draw_line(axes, at, values, label, shown)
        _mark(lower, runs, fault)
    grid[0, 0].set_ylabel("test accuracy [%]")
    grid[1, 0].set_ylabel("NMSE, median over rounds [dB]")
    figure.supxlabel(panels.label_of(fault), fontsize=8)
    if dim is not None:
        handles, labels = grid[0, 0].get_legend_handles_labels()
        title = panels.label_of(dim)
        figure.legend(handles, labels, title=title, loc="outside upper center", ncols=count)
    return figure


def _draw_line(axes: Axes, at: np.ndarray, values: xr.DataArray, label: str, look: dict) -> None:
    """The mean over the seeds and all that they reach: each has other devices, of which some are
    better than others.
    """
    seeds = values if "seed" in values.dims else values.expand_dims("seed")
    low, high = seeds.min("seed").values, seeds.max("seed").values
    axes.fill_between(at, low, high, color=look["color"], alpha=0.15, linewidth=0)
    axes.plot(at, seeds.mean("seed").values, label=label, **look)


def _short(value: object) -> str:
    return str(value) if isinstance(value, str) else f"{value:.3g}"


def _places(runs: xr.Dataset, fault: str) -> np.ndarray:
    values = runs[fault].values
    return values if panels.numeric(runs, fault) else np.arange(len(values))


def _mark(axes: Axes, runs: xr.Dataset, fault: str) -> None:
    values = runs[fault].values
    if not panels.numeric(runs, fault):
        axes.set_xticks(np.arange(len(values)), [str(v).replace("_", " ") for v in values])
        axes.tick_params(axis="x", rotation=30)
        return
    scale_axis(axes, fault, values)
    if fault == "adc_bits":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
