"""What figures of sweeps share: which dimension goes where, labels, means and confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import t as student

from figures import style
from scenarios.config.labels import label_of
from scenarios.study.results import VARIABLES

MAX_PANELS = 20


def swept(study: xr.Dataset) -> list[str]:
    """Return the dimensions of the sweep with more than one value, except seeds."""
    names = [str(dim) for dim in study["finished"].dims]
    return [name for name in names if name != "seed" and study.sizes[name] > 1]


def numeric(study: xr.Dataset, dim: str) -> bool:
    """Return whether the values of a dimension can be placed on an axis."""
    return study[dim].dtype.kind in "fiu" and bool(np.isfinite(study[dim].values).all())


def one_seed(study: xr.Dataset) -> xr.Dataset:
    """Select the seed with the most finished cells, the first if several have."""
    if "seed" not in study.dims:
        return study
    done = study["finished"].sum([dim for dim in study["finished"].dims if dim != "seed"])
    return study.isel(seed=int(done.argmax("seed")))


def line_dim(study: xr.Dataset, *others: str) -> str | None:
    """Return the dimension that distinguishes the lines of a panel.

    Variants or algorithms if possible, else the last one.
    """
    free = [dim for dim in swept(study) if dim not in others]
    return next((dim for dim in ("variant", "algorithm", *free[::-1]) if dim in free), None)


def axis_label(study: xr.Dataset, dim: str) -> str:
    """Return the label of a swept dimension, with its unit."""
    attributes = study[dim].attrs
    text, unit = attributes.get("long_name", dim), attributes.get("units", "1")
    return text if unit == "1" else f"{text} [{unit}]"


def metric_label(name: str, unit: str = "", qualifier: str = "") -> str:
    """Return the label of a metric.

    Parameters
    ----------
    name : str
        The metric.
    unit : str
        The unit in which it is drawn, if that is not its own.
    qualifier : str
        Further words, such as "median over rounds".
    """
    metric = VARIABLES[name]
    text = f"{metric.label}, {qualifier}" if qualifier else metric.label
    unit = unit or metric.unit
    return f"{text} [{unit}]" if unit else text


def value_label(dim: str, value: object) -> str:
    """Return a value as it appears in a legend or above a panel."""
    if isinstance(value, str):
        return style.ALGORITHMS.get(value, value)
    label = label_of(dim)
    if label.symbol:
        return f"{label.symbol} = {value:g}"
    return f"{label.text} {value:g} {label.unit}".strip()


def place_label(chosen: Mapping[str, Any]) -> str:
    """Return the values of several dimensions, as above a panel."""
    values = {dim: v.item() if hasattr(v, "item") else v for dim, v in chosen.items()}
    return ", ".join(value_label(dim, value) for dim, value in values.items())


def lines(study: xr.Dataset, dim: str | None) -> Iterator[tuple[str, dict, xr.Dataset]]:
    """Yield label, style and data of each line; a single one has no label."""
    if dim is None:
        yield "", style.look(None), study
        return
    values = study[dim].values
    ours = any(str(value) in style.ALGORITHMS for value in values)
    own = [str(value) for value in values if str(value) not in style.ALGORITHMS]
    for place, value in enumerate(values):
        plain = value.item() if hasattr(value, "item") else value
        number = own.index(str(plain)) if ours and str(plain) in own else place
        look = style.look(plain, number, len(values), beside=ours)
        yield value_label(dim, plain), look, study.sel({dim: value})


def mean_and_confidence(values: xr.DataArray) -> tuple[NDArray, NDArray]:
    """Return the mean over the seeds and half the width of its 95 % confidence interval.

    The interval is Student's t; half its width is NaN for a single seed.
    """
    if "seed" not in values.dims:
        return values.values, np.full(values.shape, np.nan)
    count = values.notnull().sum("seed")
    mean = values.sum("seed") / count.where(count > 0)
    freedom = (count - 1).where(count > 1)
    variance = ((values - mean) ** 2).sum("seed") / freedom
    factor = student.ppf(0.975, freedom.values)
    return mean.values, factor * np.sqrt((variance / count).values)


def panels(
    study: xr.Dataset, *inside: str | None, height: float = 1.9
) -> tuple[Figure, list[tuple[Axes, xr.Dataset]]]:
    """Make one panel for every value of the dimensions that are not inside a panel.

    Returns
    -------
    figure : Figure
    pairs : list of (Axes, Dataset)
        The panels with their data.
    """
    outside = [dim for dim in swept(study) if dim not in inside]
    everywhere = list(product(*(study[dim].values for dim in outside)))
    places = everywhere[:MAX_PANELS]
    columns = 1
    if outside:
        last = study.sizes[outside[-1]]
        columns = last if last <= 4 else 3
    rows = -(-len(places) // columns)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    size = (width, (height if len(places) > 1 else max(height, 2.5)) * rows + 0.2)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False
    )
    pairs = []
    for axes, place in zip(grid.flat, places, strict=False):
        chosen = dict(zip(outside, place, strict=True))
        axes.set_title(place_label(chosen))
        pairs.append((axes, study.sel(chosen).squeeze(single(study), drop=True)))
    for axes in grid.flat[len(places) :]:
        axes.set_visible(False)
    if len(everywhere) > len(places):
        figure.suptitle(f"the first {len(places)} of {len(everywhere)} panels")
    return figure, pairs


def learnt(study: xr.Dataset) -> bool:
    """Return whether any run has an accuracy."""
    return bool(study["accuracy"].notnull().any())


def median_nmse_db(run: xr.Dataset) -> xr.DataArray:
    """Return the NMSE [dB], the median over the rounds."""
    return 10 * xr.apply_ufunc(np.log10, run["nmse"].median("round"))


def single(study: xr.Dataset) -> list[str]:
    """Return the swept dimensions with a single value."""
    dims = [str(dim) for dim in study["finished"].dims]
    return [dim for dim in dims if dim != "seed" and study.sizes[dim] == 1]


def each_line(
    pairs: list[tuple[Axes, xr.Dataset]], dim: str | None
) -> Iterator[tuple[Axes, str, dict, xr.Dataset]]:
    """Yield the lines of all panels; see :func:`lines`."""
    for axes, part in pairs:
        for line in lines(part, dim):
            yield axes, *line


def outer_labels(pairs: list[tuple[Axes, xr.Dataset]], x: str, y: str) -> None:
    """Label the left and lower edge of the grid; number the last panel of each column."""
    places = [axes.get_subplotspec() for axes, _ in pairs]
    columns = [0 if place is None else place.colspan.start for place in places]
    for number, (axes, _) in enumerate(pairs):
        place = places[number]
        if columns[number] == 0:
            axes.set_ylabel(y)
        if place is None or place.is_last_row():
            axes.set_xlabel(x)
        if columns[number] not in columns[number + 1 :]:
            axes.tick_params(labelbottom=True)


def legend(figure: Figure, axes: Axes) -> None:
    """Put a legend of the lines in ``axes``, if any, above the figure, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    columns = min(len(labels), 4 if figure.get_figwidth() > style.COLUMN_WIDTH else 3)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def within_percent(mean: NDArray, half: NDArray) -> NDArray:
    """Return error bars [2, ...] of a percentage, limited to 0 and 100."""
    return np.array([np.fmin(half, mean), np.fmin(half, 100 - mean)]) + 0 * half
