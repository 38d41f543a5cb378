"""A scenario: tables and a sweep, resolved into cells and batches.

The sweep is a table of dotted keys, each with a list of plain values, or with a table of named
values where these are tables or lists themselves. The cells are their product, keys with lists
before keys with tables, as in a TOML file; the last key varies fastest.
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

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.cell import Cell
from scenarios.config.keys import flat, set_key
from scenarios.config.parts import Part
from scenarios.config.reading import Used, read
from scenarios.config.sweep import TABLES, Axis, Plain, read_axes
from scenarios.errors import ScenarioError

MAX_CELLS = 100_000
BATCH_SIZE = 12
"""Cells in a batch: enough to share minibatches, few enough to keep all processors busy."""

DEFAULTS = (("data", "partition", "label"), ("model", "name", "logistic"))
"""Table, chooser and choice where a scenario chooses nothing."""
CHOOSERS = ("name", "kind", "partition")


class Paper(Part):
    """Accuracies that a publication reports, for comparison.

    Attributes
    ----------
    source : str
        The publication.
    keys : list of str
        Keys of the scenario.
    accuracy : list of list
        Rows of one value per key, followed by the accuracy in percent.
    """

    source: str
    keys: list[str]
    accuracy: list[list[Any]]


@dataclass(frozen=True)
class Scenario:
    """A study to run; see :func:`scenarios.load_scenario`.

    Attributes
    ----------
    title : str
        One line that says what it shows.
    axes : tuple of Axis
        The sweep.
    cells : tuple of Cell
        Its runs, in the order of the product of the axes.
    paper : Paper or None
        Published accuracies to compare with.
    """

    title: str
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    paper: Paper | None = None

    @classmethod
    def read(cls, content: Mapping[str, Any], before: Used | None = None) -> Scenario:
        """Read the content of a scenario file.

        Parameters
        ----------
        content : mapping
            The tables of the file.
        before : mapping of str to set of str, optional
            Choices that were replaced, by the path of the table; their options may remain.
        """
        tables: dict[str, Any] = {name: {} for name in TABLES} | copy.deepcopy(dict(content))
        title, sweep = tables.pop("title", ""), tables.pop("sweep", {})
        paper = tables.pop("paper", None)
        if not isinstance(title, str):
            raise ScenarioError(str(OptionError("title", "a string", title)))
        if not isinstance(sweep, Mapping):
            raise ScenarioError(str(OptionError("sweep", "a table", sweep)))
        axes = read_axes(sweep)
        count = math.prod(len(axis.labels) for axis in axes)
        if count > MAX_CELLS:
            raise ScenarioError(f"sweep must have at most {MAX_CELLS} cells, got {count}")
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
        cells = tuple(read(Cell, raw, used=used) for raw in raws)
        return cls(title, axes, cells, None if paper is None else _read_paper(paper, cells))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of values on each axis."""
        return tuple(len(axis.labels) for axis in self.axes)

    def labels_of(self, number: int) -> dict[str, Plain]:
        """Return the labels of a cell in the sweep, by key."""
        labels = self._places[number]
        return {axis.key: label for axis, label in zip(self.axes, labels, strict=True)}

    @cached_property
    def _places(self) -> list[tuple[Plain, ...]]:
        return list(product(*(axis.labels for axis in self.axes)))

    @cached_property
    def batches(self) -> list[list[int]]:
        """Numbers of the cells that are trained together, on the same minibatches.

        They depend on the scenario alone, so that the results are reproducible to the last bit.
        """
        groups: dict[str, list[int]] = defaultdict(list)
        for number, cell in enumerate(self.cells):
            groups[repr(cell.shared())].append(number)
        batches = []
        for group in groups.values():
            pieces = -(-len(group) // BATCH_SIZE)
            size = -(-len(group) // pieces)
            batches += [group[start : start + size] for start in range(0, len(group), size)]
        return batches

    def resolved(self) -> dict[str, Any]:
        """Return the scenario file with every default written out on which all cells agree.

        Options whose default depends on a swept choice cannot be written in one table; every cell
        file holds its complete settings.
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
        """Return the resolved scenario as TOML."""
        return tomli_w.dumps(self.resolved())


def _read_paper(table: Any, cells: Sequence[Cell]) -> Paper:
    paper = read(Paper, table, "paper")
    known = {key for cell in cells for key in flat(cell.settings())}
    for key in paper.keys:
        if key not in known:
            hint = did_you_mean(key, known)
            raise ScenarioError(str(OptionError("paper.keys", "keys of the scenario", key, hint)))
    for row in paper.accuracy:
        if len(row) != len(paper.keys) + 1 or not isinstance(row[-1], int | float):
            must = f"rows of a value for each of the {len(paper.keys)} keys, and the accuracy [%]"
            raise ScenarioError(str(OptionError("paper.accuracy", must, row)))
    return paper


def _used(raws: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the choices in all cells, by the path of the table."""
    used: dict[str, set[str]] = defaultdict(set)
    for raw in raws:
        for key, value in flat(raw).items():
            path, _, last = key.rpartition(".")
            if last in CHOOSERS and isinstance(value, str):
                used[path].add(value)
    return used
