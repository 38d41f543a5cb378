"""A figure of any study: what is drawn against what, for which lines, in which panels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import facets, kinds, panels, seeds, style
from figures.quantities import (
    ROUND,
    find_dim,
    is_numeric,
    label_of_dim,
    metric_label,
    metric_of,
    metric_values,
    value_label,
)
from figures.roles import Roles, assign, default_x, select, single, sweep_dims, swept, thin
from figures.several import Study, read, without_constants
from otafl._base.names import check_names
from otafl._base.validation import OptionError, choice
from scenarios.errors import StudyError

HEIGHT = 1.7  # of a panel, in a paper [inch]
ROW_HEIGHT = 0.17  # of a name and its marks, in a paper [inch]

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
    look: str = "paper",
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
    look : {"paper", "slides"}
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
    choice("kind", kind, list(kinds.KINDS))
    note = on_note or (lambda text: warnings.warn(text, stacklevel=3))
    chosen = without_constants(select(read(study), where or {}))
    if kind == "heatmap":
        x, y, hue = _axes_of_heatmap(chosen, x, y, hue)
    roles = assign(chosen, x, _metrics(chosen, x, y), hue, col, row)
    with style.context(look):
        return draw(chosen, roles, kind, note)


def draw(
    study: xr.Dataset,
    roles: Roles,
    kind: str = "line",
    on_note: Callable[[str], object] = print,
    overlay: Overlay | None = None,
) -> Figure:
    """Draw a figure in the current style, with every part given its role."""
    study = thin(study, roles, on_note)
    used = (roles.x, roles.hue, roles.col, roles.row)
    fixed = [value_label(study, dim, study[dim].values[0]) for dim in single(study, used)]
    study = study.squeeze(single(study, used))
    keep = (ROUND,) if roles.x == ROUND else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means over missing cells
        values = [metric_values(study, name, keep) for name in roles.metrics]
    if not any(bool(np.isfinite(each).any()) for each in values):
        raise StudyError(f"no finished run has a value of {' or '.join(roles.metrics)} to draw")
    labels = [metric_label(metric_of(study, name), roles.x != ROUND) for name in roles.metrics]
    if kind == "heatmap":
        figure = _draw_heatmap(study, values[0], roles, labels[0])
    else:
        figure = _draw_panels(study, values, roles, labels, kind, overlay)
    facets.fit(figure)
    return style.describe(figure, _caption(study, roles, labels, kind, fixed))


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
    for axes_of_metric, each in zip(metrics, values, strict=True):
        for axes, place, part in panels.each(np.atleast_2d(axes_of_metric), study, roles):
            kinds.KINDS[kind](axes, part, each.sel(place), roles)
            if overlay is not None:
                overlay(axes, part, roles)
    numbers = roles.hue is not None and is_numeric(study, roles.hue)
    facets.legend(figure, grid, label_of_dim(study, str(roles.hue)).axis if numbers else "")
    return figure


def _height_of_names(study: xr.Dataset, roles: Roles) -> float:
    lines = study.sizes[roles.hue] if roles.hue else 1
    return max(1.2, ROW_HEIGHT * study.sizes[roles.x] * max(1.3, 0.5 * lines + 0.5))


def _draw_heatmap(study: xr.Dataset, values: xr.DataArray, roles: Roles, label: str) -> Figure:
    assert roles.hue is not None
    figure, grid = panels.make(study, roles)
    means = seeds.summarise(values).mean
    for axes, place, part in panels.each(grid, study, roles):
        mesh = kinds.draw_heatmap(axes, part, values.sel(place), roles)
        mesh.set_clim(float(means.min()), float(means.max()))
        kinds.write_cells(axes, mesh, means.sel(place).transpose(roles.hue, roles.x).values)
    keys = [[label_of_dim(study, dim).axis] for dim in (roles.x, roles.hue)]
    facets.label_axes(figure, grid, *keys)
    figure.colorbar(mesh, ax=list(grid.flat), label=label)
    return figure


def _metrics(study: xr.Dataset, x: str | None, y: str | Sequence[str] | None) -> list[str]:
    if y is None:
        return ["test_accuracy" if (x or default_x(study)) == ROUND else "accuracy"]
    metrics = [y] if isinstance(y, str) else list(y)
    if not metrics or len(metrics) > facets.MAX_PANELS or len(set(metrics)) < len(metrics):
        raise OptionError("y", "one to six different metrics", y)
    return metrics


def _axes_of_heatmap(
    study: xr.Dataset, x: str | None, y: str | Sequence[str] | None, hue: str | None
) -> tuple[str, str, str]:
    """Return horizontal key, metric and vertical key of a heat map; numbers are preferred."""
    if y is not None and not isinstance(y, str):
        raise OptionError("y", "one key, for the vertical axis of a heat map", y)
    dims = [*sweep_dims(study), ROUND]
    pairs = (("x", x), ("y", y))
    given = [find_dim(study, role, name, dims) for role, name in pairs if name is not None]
    free = [dim for dim in swept(study) if dim not in given]
    free.sort(key=lambda dim: (not is_numeric(study, dim), -study.sizes[dim]))
    across = x or (free.pop(0) if free else ROUND)
    if y is None and not free:
        raise OptionError("y", "a second swept key, for the vertical axis of a heat map", y)
    return across, hue or ("test_accuracy" if across == ROUND else "accuracy"), y or free[0]


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
    number = study.sizes.get("seed", 1)
    words = {
        "box": f"quartiles and range over {number} seeds",
        "heatmap": f"mean over {number} seeds",
    }
    spread = words.get(kind, seeds.words(study)) if number > 1 else ""
    return f"{text}; {spread}." if spread else f"{text}."
