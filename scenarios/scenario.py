"""A scenario: a TOML file of tables and a sweep, resolved into cells and batches.

The sweep is a table of dotted keys, each with a list of plain values, or with a table of named
ones for values that are tables or lists themselves. The cells are their product, keys with lists
before those with tables, as a TOML file has them, the last one running fastest.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import tomli_w

from scenarios.library import ScenarioError, did_you_mean
from scenarios.parts import Part, Used, flat, read, set_key
from scenarios.sweep import TABLES, Axis, Plain, axes_of
from scenarios.tables import Cell

MOST_CELLS = 100_000
TRAINED_TOGETHER = 12
"""Cells in a batch: enough to share the minibatches, few enough to keep all processors busy."""


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
        tables: dict[str, Any] = {name: {} for name in TABLES} | copy.deepcopy(dict(content))
        title, sweep = tables.pop("title", ""), tables.pop("sweep", {})
        paper = tables.pop("paper", None)
        if not isinstance(title, str):
            raise ScenarioError(f"title = {title!r} is not allowed: give a text")
        if not isinstance(sweep, Mapping):
            raise ScenarioError(f"sweep = {sweep!r} is not allowed: give a table")
        axes = axes_of(sweep)
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
        content["sweep"] = {axis.key: axis.content for axis in self.axes}
        return content

    def to_toml(self) -> str:
        return tomli_w.dumps(self.resolved())


DEFAULTS = (("data", "partition", "label"), ("model", "name", "logistic"))
CHOOSERS = ("name", "kind", "partition")


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


def _used(raws: list[dict[str, Any]]) -> dict[str, set[str]]:
    """The choices in all cells, by the name of the table."""
    used: dict[str, set[str]] = defaultdict(set)
    for raw in raws:
        for key, value in flat(raw).items():
            path, _, last = key.rpartition(".")
            if last in CHOOSERS and isinstance(value, str):
                used[path].add(value)
    return used
