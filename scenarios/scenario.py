"""A scenario: a TOML file of tables and a sweep, resolved into cells and batches.

The sweep is a table of dotted keys, each with a list of plain values, or with a table of named
ones for values that are tables or lists themselves. The cells are their product, keys with lists
before those with tables, as a TOML file has them, the last one running fastest.
"""

from __future__ import annotations

import copy
import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import tomli_w

from scenarios.library import ScenarioError, content_of, did_you_mean
from scenarios.parts import Part, Used, flat, read
from scenarios.tables import DATASETS, Cell

MOST_CELLS = 100_000
TRAINED_TOGETHER = 12
"""Cells in a batch: enough to share the minibatches, few enough to keep all processors busy."""

Plain = bool | int | float | str


@dataclass(frozen=True)
class Axis:
    """One key of the sweep.

    key : dotted
    labels : its values, or the names of those
    values : what stands in the scenario
    """

    key: str
    labels: tuple[Plain, ...]
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Short: ``snr_db`` of ``link.snr_db``, ``csi_snr_db`` of ``link.csi.snr_db``, and
        ``algorithm`` of ``algorithm.name``.
        """
        parts = self.key.split(".")
        if len(parts) > 1 and parts[-1] in ("name", "kind"):
            return parts[-2]
        return "_".join(parts[-2:]) if len(parts) > 2 else parts[-1]


class Paper(Part):
    """What a publication reports, to stand beside our own numbers.

    source : the publication
    keys : of the sweep
    accuracy : rows of a value for each key, and the accuracy in percent
    """

    source: str
    keys: list[str]
    accuracy: list[list[Any]]


@dataclass(frozen=True)
class Scenario:
    """A study to be run.

    title : one line that says what it shows
    axes : the sweep
    cells : its runs, in the order of the product of the axes
    paper : what there is to compare with
    """

    title: str
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    paper: Paper | None = None

    @classmethod
    def of(cls, content: Mapping[str, Any], before: Used | None = None) -> Scenario:
        """From what a file says.

        before : choices that it made before it was changed, whose options may still be there
        """
        tables: dict[str, Any] = {
            "data": {},
            "model": {},
            "link": {},
            "algorithm": {},
            "training": {},
        }
        tables |= copy.deepcopy(dict(content))
        title, sweep, paper = (
            tables.pop("title", ""),
            tables.pop("sweep", {}),
            tables.pop("paper", None),
        )
        if not isinstance(title, str):
            raise ScenarioError(f"title = {title!r} is not allowed: give a text")
        if not isinstance(sweep, Mapping):
            raise ScenarioError(f"sweep = {sweep!r} is not allowed: give a table")
        axes = _axes(sweep)
        if math.prod(len(axis.labels) for axis in axes) > MOST_CELLS:
            raise ScenarioError(f"sweep has more than {MOST_CELLS} cells: give fewer values")
        raws = []
        for values in product(*(axis.values for axis in axes)):
            raw = copy.deepcopy(tables)
            for axis, value in zip(axes, values, strict=True):
                set_key(raw, axis.key, copy.deepcopy(value))
            for name, key, default in DEFAULTS:
                if isinstance(raw[name], dict):
                    raw[name].setdefault(key, default)
            raws.append(raw)
        used = _used(raws)
        for path, choices in (before or {}).items():
            used[path] |= choices
        cells = tuple(read([Cell], raw, "", used) for raw in raws)
        beside = None if paper is None else _paper(paper, cells)  # type: ignore[arg-type]
        return cls(title, axes, cells, beside)  # type: ignore[arg-type]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.labels) for axis in self.axes)

    def labels_of(self, number: int) -> dict[str, Plain]:
        """By key, where in the sweep a cell stands."""
        labels = self._places[number]
        return {axis.key: label for axis, label in zip(self.axes, labels, strict=True)}

    @cached_property
    def _places(self) -> list[tuple[Plain, ...]]:
        return list(product(*(axis.labels for axis in self.axes)))

    @cached_property
    def batches(self) -> list[list[int]]:
        """Numbers of cells that train together, on the same minibatches.

        They are fixed by the scenario alone, and so are the results, to the last bit.
        """
        groups: dict[str, list[int]] = defaultdict(list)
        for number, cell in enumerate(self.cells):
            groups[repr(cell.shared())].append(number)
        batches = []
        for group in groups.values():
            pieces = -(-len(group) // TRAINED_TOGETHER)
            size = -(-len(group) // pieces)
            batches += [group[start : start + size] for start in range(0, len(group), size)]
        return batches

    def resolved(self) -> dict[str, Any]:
        """Its file with every default written out on which all cells agree.

        Options whose default depends on what the sweep chooses cannot stand in one table: every
        cell keeps its own settings whole.
        """
        seen: dict[str, list[Any]] = defaultdict(list)
        for cell in self.cells:
            for key, value in flat(cell.settings()).items():
                seen[key].append(value)
        swept = {key for key in seen for axis in self.axes if f"{key}.".startswith(f"{axis.key}.")}
        apart = {key for key in seen if any(value != seen[key][0] for value in seen[key])} - swept
        open_tables = {key.rpartition(".")[0] for key in apart if key.split(".")[-1] in CHOOSERS}
        content: dict[str, Any] = {"title": self.title}
        for key, values in seen.items():
            choice_open = any(key.startswith(f"{table}.") for table in open_tables)
            if key not in swept | apart and not choice_open:
                set_key(content, key, values[0])
        if self.paper is not None:
            content["paper"] = self.paper.settings()
        content["sweep"] = {axis.key: _axis_content(axis) for axis in self.axes}
        return content

    def to_toml(self) -> str:
        return tomli_w.dumps(self.resolved())


TABLES = tuple(name for name in Cell.model_fields if name != "seed")
DEFAULTS = (("data", "partition", "label"), ("model", "name", "logistic"))
CHOOSERS = ("name", "kind", "partition")


def load_scenario(
    source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Scenario:
    """A scenario that comes with the package, by name, or one of your own, from a file or a dict.

    changes : by dotted key, what to change: ``{"training.rounds": 20}`` fixes a key, swept or not;
        with ``sweep.`` before it the key is swept, ``{"sweep.link.snr_db": [0, 10]}``

    Examples
    --------
    >>> scenario = load_scenario("quickstart", {"training.rounds": 2, "sweep.seed": [0, 1]})
    >>> len(scenario.cells), scenario.cells[0].training.rounds
    (6, 2)
    """
    content = plain(source if isinstance(source, Mapping) else _beside(source))
    content.setdefault("sweep", {})
    before: dict[str, set[str]] = defaultdict(set)
    for key, value in (changes or {}).items():
        _change(content, key, plain(value), before)
        if f"sweep.{key}" in (changes or {}):
            raise ScenarioError(f"{key} and sweep.{key} are both given: give one of them")
    return Scenario.of(content, before)


def _beside(source: str | Path) -> dict[str, Any]:
    """What a file says; a dataset that lies beside it is found from anywhere."""
    content = content_of(source)
    data = content.get("data")
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        file = os.path.join(os.path.dirname(source), data["name"])
        if data["name"] not in DATASETS and os.path.exists(file):
            data["name"] = os.path.abspath(file)
    return content


def _change(content: dict[str, Any], key: str, value: Any, before: dict[str, set[str]]) -> None:
    """Fix a key, or with ``sweep.`` before it sweep it; note which choice that replaces."""
    sweep = content["sweep"]
    if key == "sweep" or not isinstance(sweep, dict):
        set_key(content, key, value)
        return
    axis = key.removeprefix("sweep.")
    path, _, last = axis.rpartition(".")
    if last in CHOOSERS:
        old = flat(content).get(axis)
        before[path] |= {str(each) for each in [old, *sweep.get(axis, ())] if each is not None}
    swept = next((each for each in sweep if axis.startswith(f"{each}.")), None)
    if swept is not None:
        raise ScenarioError(f"{key} cannot be set: {swept} is swept as a whole")
    if axis != key:
        sweep[axis] = value
    else:
        sweep.pop(key, None)
        set_key(content, key, value)


def plain(value: Any) -> Any:
    """A copy in which arrays are lists, as in a file."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple | range) else value


def set_key(tables: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key, making tables on the way."""
    *way, last = key.split(".")
    for depth, name in enumerate(way):
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            raise ScenarioError(f"{key} cannot be set: {'.'.join(way[: depth + 1])} is no table")
    tables[last] = value


def _axes(sweep: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Lists before tables, which is the order that they have in a file."""
    axes = [_axis(key, values) for key, values in sweep.items()]
    for one in axes:
        for other in axes:
            if other.key.startswith(f"{one.key}."):
                raise ScenarioError(f"sweep of {one.key} and of {other.key} do not go together")
    return tuple(sorted(axes, key=lambda axis: isinstance(sweep[axis.key], Mapping)))


def _axis(key: str, values: Any) -> Axis:
    if not isinstance(values, list | Mapping) or not values:
        raise ScenarioError(
            f"sweep of {key} = {values!r} is not allowed: give a list of values, or a table of "
            "named ones"
        )
    tables = isinstance(values, Mapping) and all(isinstance(v, Mapping) for v in values.values())
    if key in TABLES and not tables:
        raise ScenarioError(
            f"sweep of {key} = {values!r} is not allowed: write keys with dots in quotes, as in "
            f'"{key}.{next(iter(values))}" = [...]'
        )
    labels = tuple(values)
    for label in labels:
        if isinstance(values, Mapping) and not isinstance(label, str):
            raise ScenarioError(f"sweep of {key}: {label!r} is no name: give texts")
        if not isinstance(label, Plain) or (isinstance(label, float) and math.isnan(label)):
            raise ScenarioError(
                f"sweep of {key}: {label!r} in a list is not allowed: give plain numbers and "
                f"texts, or name the values: [sweep.{key!r}] name = value"
            )
    if len(set(labels)) < len(labels):
        raise ScenarioError(f"sweep of {key} = {list(labels)!r} has a value twice")
    return Axis(key, labels, tuple(values.values()) if isinstance(values, Mapping) else labels)


def _paper(table: Any, cells: Sequence[Cell]) -> Part:
    paper = read([Paper], table, "paper", {})
    assert isinstance(paper, Paper)
    known = {key for cell in cells for key in flat(cell.settings())}
    for key in paper.keys:
        if key not in known:
            raise ScenarioError(f"paper.keys: {key} is not known{did_you_mean(key, known)}")
    for row in paper.accuracy:
        if len(row) != len(paper.keys) + 1 or not isinstance(row[-1], int | float):
            raise ScenarioError(
                f"paper.accuracy: {row!r} is not allowed: give a value for each of the "
                f"{len(paper.keys)} keys, and the accuracy in percent"
            )
    return paper


def _axis_content(axis: Axis) -> Any:
    if axis.labels == axis.values:
        return list(axis.labels)
    return dict(zip(axis.labels, axis.values, strict=True))


def _used(raws: list[dict[str, Any]]) -> dict[str, set[str]]:
    """The choices in all cells, by the name of the table."""
    used: dict[str, set[str]] = defaultdict(set)
    for raw in raws:
        for key, value in flat(raw).items():
            path, _, last = key.rpartition(".")
            if last in CHOOSERS and isinstance(value, str):
                used[path].add(value)
    return used
