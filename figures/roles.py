"""Which swept key goes where in a figure, and which of its values are drawn."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from figures.facets import MAX_PANELS
from figures.quantities import ROUND, find_dim, is_numeric, key_of, label_of_dim, metric_of
from otafl._base.validation import OptionError
from scenarios.config.link import SNRS

NAMED = ("study", "variant", "algorithm")
"""What lines stand for, if it is swept."""

MOST_LINES = 10


@dataclass(frozen=True)
class Roles:
    """What each part of a figure shows.

    Attributes
    ----------
    x : str
        Dimension of the horizontal axis: a swept one, or ``round``.
    metrics : tuple of str
        What is drawn against it; a heat map shows one as colour.
    hue, col, row : str or None
        Dimensions that lines, columns and rows of panels stand for. In a heat map ``hue`` is that
        of the vertical axis.
    """

    x: str
    metrics: tuple[str, ...]
    hue: str | None
    col: str | None
    row: str | None


def sweep_dims(study: xr.Dataset) -> list[str]:
    """Return the dimensions of the sweep, except seeds."""
    return [str(dim) for dim in study["finished"].dims if dim != "seed"]


def swept(study: xr.Dataset) -> list[str]:
    """Return those with more than one value."""
    return [dim for dim in sweep_dims(study) if study.sizes[dim] > 1]


def one_seed(study: xr.Dataset) -> xr.Dataset:
    """Select the seed with the most finished cells, the first if several have."""
    if "seed" not in study.dims:
        return study
    done = study["finished"].sum([dim for dim in study["finished"].dims if dim != "seed"])
    return study.isel(seed=int(done.argmax("seed")))


def default_x(study: xr.Dataset) -> str:
    """Return what is drawn against: an SNR if there is one, else the longest other axis.

    Numbers come before names; without either it is ``round``.
    """
    dims = [dim for dim in swept(study) if dim not in NAMED]
    numbers = [dim for dim in dims if is_numeric(study, dim)]
    numbers.sort(key=lambda dim: (dim not in SNRS, -study.sizes[dim]))
    names = [dim for dim in dims if dim not in numbers]
    names.sort(key=lambda dim: -study.sizes[dim])  # stable: the first of equals
    return next(iter([*numbers, *names]), ROUND)


def assign(
    study: xr.Dataset,
    x: str | None,
    metrics: Sequence[str],
    hue: str | None,
    col: str | None,
    row: str | None,
) -> Roles:
    """Return the roles, those that are not given chosen by what is swept.

    Raises
    ------
    OptionError
        If a name is unknown or taken twice, or a key that is swept has no role left.
    """
    dims = sweep_dims(study)
    given = {
        role: find_dim(study, role, name, [*dims, ROUND] if role == "x" else dims)
        for role, name in (("x", x), ("hue", hue), ("col", col), ("row", row))
        if name is not None
    }
    if len(metrics) > 1 and "row" in given:
        raise OptionError("row", "left out where y names several metrics", row)
    for role, dim in given.items():
        first = next(each for each in given if given[each] == dim)
        if first != role:
            raise OptionError(role, f"another key than {first}", key_of(study, dim))
    if "x" not in given:
        taken = set(given.values())
        given["x"] = default_x(study.isel(dict.fromkeys(taken, 0), drop=True))
    metrics = [_over_rounds(study, name) if given["x"] == ROUND else name for name in metrics]
    for name in metrics:
        metric_of(study, name)
    free = [dim for dim in swept(study) if dim not in given.values()]
    free.sort(key=lambda dim: dim not in NAMED)  # stable: otherwise as in the scenario
    open_roles = [role for role in ("hue", "col", "row") if role not in given]
    if len(metrics) > 1 and "row" in open_roles:
        open_roles.remove("row")
    given |= dict(zip(open_roles, free, strict=False))
    left = free[len(open_roles) :]
    if left:
        values = study[left[0]].values.tolist()
        some = ", ".join(map(str, values[:3])) + ", ..." * (len(values) > 3)
        raise OptionError(
            "where",
            f"given for {key_of(study, left[0])}, which is swept too and has no place in this "
            f"figure, as in {where_option(study, left[0], values[0])}",
            got=f"{len(values)} values ({some})",
        )
    return Roles(given["x"], tuple(metrics), *(given.get(each) for each in ("hue", "col", "row")))


def _over_rounds(study: xr.Dataset, name: str) -> str:
    """Return what stands for a metric in every round: the tests for the accuracy of a run."""
    name = "test_accuracy" if name == "accuracy" else name
    if ROUND not in metric_of(study, name).dims:
        raise OptionError("y", "a metric that has a value in every round where x is round", name)
    return name


def select(study: xr.Dataset, where: Mapping[str, Any]) -> xr.Dataset:
    """Return the part of a study with some values of swept keys only.

    Parameters
    ----------
    study : Dataset
    where : mapping
        A value, or several, for each key.
    """
    wanted: dict[str, list[Any]] = {}
    for name, values in where.items():
        dim = find_dim(study, "where", name, [str(dim) for dim in study["finished"].dims])
        several = isinstance(values, Iterable) and not isinstance(values, str)
        wanted.setdefault(dim, []).extend(values if several else [values])
    for dim, values in wanted.items():
        known, name = study[dim].values, f"where {key_of(study, dim)}"
        if not values:
            raise OptionError(name, "one value or more", values)
        places = [_place(known, value) for value in values]
        if None in places:
            wrong = values[places.index(None)]
            raise OptionError(name, f"one of {', '.join(map(str, known))}", wrong)
        study = study.isel({dim: list(dict.fromkeys(places))})
    return study


def _place(values: np.ndarray, wanted: object) -> int | None:
    """Return the index of a value, given as itself or as text; numbers to three digits."""
    texts = [str(value) for value in values]
    if str(wanted) in texts:
        return texts.index(str(wanted))
    near = np.isclose([_number(text) for text in texts], _number(str(wanted)), rtol=5e-3, atol=0)
    return int(np.argmax(near)) if near.sum() == 1 else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def where_option(study: xr.Dataset, dim: str, values: object) -> str:
    """Return the option of the command line that chooses values of a key."""
    text = values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)
    return f"--where {shlex.quote(f'{key_of(study, dim)}={text}')}"


def thin(
    study: xr.Dataset, roles: Roles, on_note: Callable[[str], object], lines: int = MOST_LINES
) -> xr.Dataset:
    """Leave out values, evenly, until at most six panels and so many lines are left.

    Each omission is noted, with what draws it.
    """
    keep = {dim: study.sizes[dim] for dim in (roles.row, roles.col) if dim is not None}
    most = MAX_PANELS // len(roles.metrics)
    while math.prod(keep.values()) > most:
        longest = max(keep, key=lambda dim: keep[dim])
        keep[longest] -= 1
    if roles.hue is not None and roles.hue not in keep:
        keep[roles.hue] = min(study.sizes[roles.hue], lines)
    for dim, count in keep.items():
        size = study.sizes[dim]
        if count == size:
            continue
        places = np.unique(np.linspace(0, size - 1, count).round().astype(int))
        left = [value for place, value in enumerate(study[dim].values.tolist())
                if place not in places]  # fmt: skip
        on_note(
            f"{count} of {size} values of {label_of_dim(study, dim).text} are drawn; for others "
            f"add {where_option(study, dim, left[:count])}"
        )
        study = study.isel({dim: places})
    return study


def single(study: xr.Dataset, used: Collection[str | None]) -> list[str]:
    """Return the dimensions with one value that have no role in the figure."""
    return [dim for dim in sweep_dims(study) if study.sizes[dim] == 1 and dim not in used]


def without_surplus(
    study: xr.Dataset, x: str, room: int, on_note: Callable[[str], object]
) -> xr.Dataset:
    """Fix keys that a figure has no room for at their first values, with a note for each.

    Parameters
    ----------
    study : Dataset
    x : str
        What is drawn against.
    room : int
        How many further keys the figure has room for.
    on_note : callable
        Called with each note.
    """
    others = sorted((dim for dim in swept(study) if dim != x), key=lambda dim: dim not in NAMED)
    for dim in others[room:]:
        first, second, *_ = study[dim].values.tolist()
        another = where_option(study, dim, second)
        on_note(f"drawn for {key_of(study, dim)} = {first} only; for another value add {another}")
        study = study.isel({dim: [0]})
    return study
