"""A figure of any study: what is drawn against what, for which lines, in which panels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import facets, kinds, panels, seeds
from figures import style as house
from figures.quantities import (
    ROUND,
    find_dim,
    is_numeric,
    label_of_dim,
    metric_label,
    metric_of,
    metric_values,
    unit_of,
    value_label,
)
from figures.roles import MOST_LINES, Roles, assign, single, sweep_dims, swept, thin
from figures.several import Study, read
from otafl._base.names import check_names
from otafl._base.validation import OptionError, choice
from scenarios.errors import StudyError

HEIGHT = 1.7  # of a panel, in a paper [inch]
ROW_HEIGHT = 0.17  # of a name and its marks, in a paper [inch]
WIDE = 1000.0  # a ratio of values above which the vertical axis is logarithmic
DEFAULT = "accuracy"
HEATMAP_AND_OTHERS = [*kinds.KINDS, "heatmap"]

Overlay = Callable[[Axes, xr.Dataset, Roles], None]
"""Adds to a panel."""


@check_names
def plot(
    study: Study | Sequence[Study] | Mapping[str, Study],
    *,
    x: str | None = None,
    y: str | Sequence[str] | None = None,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    kind: str = "line",
    where: Mapping[str, Any] | None = None,
    style: str = "paper",
    on_note: Callable[[str], object] | None = None,
) -> Figure:
    """Draw a metric of a study against what it sweeps.

    What is not given is chosen: the horizontal axis is an SNR or the longest swept key, lines are
    algorithms, and what else is swept makes columns and rows of panels. At most six panels and ten
    lines are drawn.

    Parameters
    ----------
    study : str, path, Dataset, or a sequence or mapping of these
        The directory of a study, or what :func:`otafl.open_study` returns. Several are compared:
        ``study`` is then a key like those that are swept.
    x : str, optional
        The key of the horizontal axis, such as ``link.snr_db`` or, for short, ``snr_db``; or
        ``round``.
    y : str or sequence of str, optional
        The metric of the vertical axis, ``accuracy`` by default, or several, each in panels of its
        own. In a heat map: the key of the vertical axis.
    hue : str, optional
        The key that lines, bars or boxes stand for. In a heat map: the metric that colours show.
    col, row : str, optional
        The keys that columns and rows of panels stand for.
    kind : {"line", "heatmap", "bar", "box"}
        Lines and bars show means over the seeds with their range, or from five seeds on with their
        95 % confidence interval. Boxes show quartiles over the seeds.
    where : mapping, optional
        Draw only these values of swept keys, as in ``{"link.snr_db": [0, 10]}``.
    style : {"paper", "slides"}
        Sizes for a paper or for a projector.
    on_note : callable, optional
        Called with remarks on what is left out; by default they are warnings.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    OptionError
        If a name or a value is not one of the study's.
    StudyError
        If no finished run has a value to draw.
    """
    note = on_note or (lambda text: warnings.warn(text, stacklevel=4))
    chosen = read(study, where, note)
    roles = roles_of(chosen, x, y, hue, col, row, kind)
    with house.context(style):
        return draw(chosen, roles, kind, note)


def roles_of(
    study: xr.Dataset,
    x: str | None = None,
    y: str | Sequence[str] | None = None,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    kind: str = "line",
) -> Roles:
    """Return the roles in a figure; parameters as in :func:`plot`."""
    choice("kind", kind, HEATMAP_AND_OTHERS)
    if kind == "heatmap":
        return _roles_of_heatmap(study, x, y, hue, col, row)
    metrics = [y] if isinstance(y, str) else [DEFAULT] if y is None else y
    if not isinstance(metrics, Sequence) or not 0 < len(metrics) <= facets.MAX_PANELS:
        raise OptionError("y", "one to six metrics", y)
    if len(set(metrics)) < len(metrics):
        raise OptionError("y", "different metrics", y)
    roles = assign(study, x, metrics, hue, col, row)
    if kind != "line" and roles.x == ROUND:
        raise OptionError("kind", "line where x is round", kind)
    for name in roles.metrics:
        if kind == "bar" and unit_of(metric_of(study, name)) == "dB":
            raise OptionError("kind", f"line or box for {name}: bars of dB would begin at 0", kind)
    return roles


def draw(
    study: xr.Dataset,
    roles: Roles,
    kind: str = "line",
    on_note: Callable[[str], object] = print,
    overlay: Overlay | None = None,
) -> Figure:
    """Draw a figure in the current style, with every part given its role."""
    heatmap = kind == "heatmap"
    study = thin(study, roles, on_note, lines=study["finished"].size if heatmap else MOST_LINES)
    used = (roles.x, roles.hue, roles.col, roles.row)
    fixed = [value_label(study, dim, study[dim].values[0]) for dim in single(study, used)]
    study = study.squeeze(single(study, used))
    keep = (ROUND,) if roles.x == ROUND else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means over missing cells
        values = [metric_values(study, name, keep) for name in roles.metrics]
    if not any(bool(np.isfinite(each).any()) for each in values):
        raise StudyError(f"no finished run has a value of {' or '.join(roles.metrics)} to draw")
    metrics = [metric_of(study, name) for name in roles.metrics]
    for metric in metrics:
        if metric.shown_in == "dB" and bool((study[metric.name] == 0).any()):
            on_note(f"{metric.label} of exactly 0 has no value in dB and is left out")
    labels = [metric_label(metric, roles.x != ROUND) for metric in metrics]
    if heatmap:
        figure = _draw_heatmap(study, values[0], roles, labels[0])
    else:
        figure = _draw_panels(study, values, roles, labels, kind, overlay)
    facets.fit(figure)
    return house.describe(figure, _caption(study, roles, labels, kind, fixed))


def _draw_panels(
    study: xr.Dataset,
    values: list[xr.DataArray],
    roles: Roles,
    labels: list[str],
    kind: str,
    overlay: Overlay | None,
) -> Figure:
    sideways = roles.x != ROUND and not is_numeric(study, roles.x)  # names are on the vertical axis
    key = label_of_dim(study, roles.x).axis
    several = len(values) > 1
    height = _height_of_names(study, roles) if sideways else HEIGHT
    if several and roles.col is None:  # metrics side by side
        figure, grid = facets.make([""], labels, height, share_x=not sideways, share_y=sideways)
        metrics = grid.T
        facets.label_axes(figure, grid, [""] if sideways else [key], [key] if sideways else [""])
    elif several:  # one below the other
        shares = {"share_x": "row" if sideways else True, "share_y": sideways or "row"}
        headings = panels.headings(study, roles.col)
        figure, grid = facets.make([""] * len(values), headings, height, **shares)
        metrics = grid
        facets.label_axes(figure, grid, *((labels, [key]) if sideways else ([key], labels)))
    else:
        figure, grid = panels.make(study, roles, height=height)
        metrics = grid[None]
        facets.label_axes(figure, grid, *((labels, [key]) if sideways else ([key], labels)))
    few = seeds.counts(study)[0] < seeds.FEW
    for axes_of_metric, each in zip(metrics, values, strict=True):
        for axes, place, part in panels.each(np.atleast_2d(axes_of_metric), study, roles):
            kinds.KINDS[kind](axes, part, each.sel(place), roles, few)
            if not sideways and _wide(each):
                axes.set_yscale("log")
            if overlay is not None:
                overlay(axes, part, roles)
    numbers = roles.hue is not None and is_numeric(study, roles.hue)
    facets.legend(figure, grid, label_of_dim(study, str(roles.hue)).axis if numbers else "")
    return figure


def _wide(values: xr.DataArray) -> bool:
    """Return whether values need a logarithmic axis; percentages and decibels do not."""
    low, high = float(values.min()), float(values.max())
    return low > 0 and high > WIDE * low


def _height_of_names(study: xr.Dataset, roles: Roles) -> float:
    lines = study.sizes[roles.hue] if roles.hue else 1
    return max(1.2, ROW_HEIGHT * study.sizes[roles.x] * max(1.3, 0.5 * lines + 0.5))


def _draw_heatmap(study: xr.Dataset, values: xr.DataArray, roles: Roles, label: str) -> Figure:
    assert roles.hue is not None
    figure, grid = panels.make(study, roles)
    means = seeds.summarise(values, few=True).mean
    for axes, place, part in panels.each(grid, study, roles):
        mesh = kinds.draw_heatmap(axes, part, means.sel(place), roles)
        mesh.set_clim(float(means.min()), float(means.max()))
        kinds.write_cells(axes, mesh)
    keys = [[label_of_dim(study, dim).axis] for dim in (roles.x, roles.hue)]
    facets.label_axes(figure, grid, *keys)
    figure.colorbar(mesh, ax=list(grid.flat), label=label)
    return figure


def _roles_of_heatmap(
    study: xr.Dataset,
    x: str | None,
    y: str | Sequence[str] | None,
    hue: str | None,
    col: str | None,
    row: str | None,
) -> Roles:
    """Return the roles in a heat map, whose axes are numbers by default."""
    if y is not None and not isinstance(y, str):
        raise OptionError("y", "one key, for the vertical axis of a heat map", y)
    dims = sweep_dims(study)
    across = None if x is None else find_dim(study, "x", x, [*dims, ROUND])
    up = None if y is None else find_dim(study, "y", y, dims)
    free = [dim for dim in swept(study) if dim not in (across, up)]
    free.sort(key=lambda dim: (not is_numeric(study, dim), -study.sizes[dim]))
    across = across or (free.pop(0) if free else ROUND)
    if up is None and not free:
        got = f"a study that sweeps {', '.join(swept(study)) or 'nothing'}"
        raise OptionError("kind", "another one: a heat map has two swept keys", got=got)
    up = up or free[0]
    if across == up:
        raise OptionError("y", "another key than x", y)
    try:
        return assign(study, across, [hue or DEFAULT], up, col, row)
    except OptionError as error:
        if error.name != "y":
            raise
        error.rename("hue")
        raise


def _caption(
    study: xr.Dataset, roles: Roles, labels: list[str], kind: str, fixed: list[str]
) -> str:
    axes = [roles.x, roles.hue] if kind == "heatmap" else [roles.x]
    against = " and ".join(label_of_dim(study, str(dim)).axis for dim in axes)
    *others, last = labels
    shown = f"{', '.join(others)} and {last}" if others else last
    text = f"{study.attrs.get('title', 'Study')}: {shown} against {against}"
    if fixed:
        text += f", for {', '.join(fixed)}"
    spread = seeds.words(study, kind)
    if spread and any(unit_of(metric_of(study, name)) == "dB" for name in roles.metrics):
        spread += ", averaged in dB"
    return f"{text}; {spread}." if spread else f"{text}."
