"""A scenario: tables and a sweep, resolved into cells and batches."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import Field as Option

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.cell import Cell
from scenarios.config.code import Code, is_reference
from scenarios.config.keys import flat, set_key
from scenarios.config.parts import Part
from scenarios.config.reading import Used, read
from scenarios.config.sweep import TABLES, VARIANT, Sweep, read_axes
from scenarios.errors import ScenarioError

MAX_CELLS = 100_000
BATCH_SIZE = 12
"""Cells in a batch: enough to share minibatches, few enough to keep all processors busy."""

DEFAULTS = (
    ("data", "partition", "label"),
    ("model", "name", "logistic"),
    ("participation", "kind", "everyone"),
    ("downlink", "kind", "none"),
)
"""Table, chooser and choice where a scenario chooses nothing."""
CHOOSERS = ("name", "kind", "partition")


class Paper(Part):
    """Accuracies that a publication reports, for comparison.

    Attributes
    ----------
    source : str
        The publication.
    keys : list of str
        Keys of the scenario, or ``variant``.
    accuracy : list of list
        Rows of one value per key, followed by the accuracy in percent.
    readings : list of str
        Variants that stand for the same published values, to be compared with one at a time; none
        by default.
    """

    source: str
    keys: list[str]
    accuracy: list[list[Any]]
    readings: list[str] = Option(default_factory=list)


@dataclass(frozen=True)
class Scenario:
    """A study to run; see :func:`scenarios.load_scenario`.

    Attributes
    ----------
    title : str
        One line that says what it shows.
    sweep : Sweep
        What it varies.
    cells : tuple of Cell
        Its runs, in the order of the sweep.
    paper : Paper or None
        Published accuracies to compare with.
    code : Code
        Where its user-defined parts come from.
    """

    title: str
    sweep: Sweep
    cells: tuple[Cell, ...]
    paper: Paper | None = None
    code: Code = field(default_factory=lambda: Code(Path.cwd()), compare=False)

    def __repr__(self) -> str:
        return f"Scenario({self.title!r}, {len(self.cells)} cells)"

    @classmethod
    def read(
        cls,
        content: Mapping[str, Any],
        before: Used | None = None,
        code: Code | None = None,
        stored_by: str = "",
    ) -> Scenario:
        """Read the content of a scenario file.

        Parameters
        ----------
        content : mapping
            The tables of the file.
        before : mapping of str to set of str, optional
            Choices that were replaced, by the path of the table; their options may remain.
        code : Code, optional
            Where user-defined parts come from; the current directory by default.
        stored_by : str
            The version that stored the scenario, if any; see :func:`read`.
        """
        code = code or Code(Path.cwd())
        try:
            content = _with_bare_references(content, code)
        except OptionError as error:
            raise ScenarioError(f"a user-defined part {error.explanation}") from None
        tables: dict[str, Any] = {name: {} for name in TABLES} | copy.deepcopy(dict(content))
        title, axes = tables.pop("title", ""), tables.pop("sweep", {})
        paper = tables.pop("paper", None)
        if not isinstance(title, str):
            raise ScenarioError(str(OptionError("title", "a string", title)))
        if not isinstance(axes, Mapping):
            raise ScenarioError(str(OptionError("sweep", "a table", axes)))
        for name in tables:
            if did_you_mean(name, ["sweep", "title", "paper"]) and name not in Cell.model_fields:
                hint = did_you_mean(name, ["sweep", "title", "paper", *Cell.model_fields])
                raise ScenarioError(f"{name} is not a key{hint}")
        sweep = Sweep(read_axes(axes))
        if sweep.size > MAX_CELLS:
            raise ScenarioError(f"sweep must have at most {MAX_CELLS} cells, got {sweep.size}")
        raws = list(sweep.tables(tables))
        for raw in raws:
            for name, key, default in DEFAULTS:
                if isinstance(raw[name], dict):
                    raw[name].setdefault(key, default)
        used = choices_in(raws)
        for path, choices in (before or {}).items():
            used[path] |= choices
        cells = tuple(read(Cell, raw, used=used, code=code, stored_by=stored_by) for raw in raws)
        found = None if paper is None else _read_paper(paper, cells, sweep)
        return cls(title, sweep, cells, found, code)

    @cached_property
    def batches(self) -> list[list[int]]:
        """Numbers of the cells that are trained together, on the same minibatches."""
        return batched(self.cells, range(len(self.cells)))

    def resolved(self) -> dict[str, Any]:
        """Return the scenario file with every default written out on which all cells agree.

        Options whose default depends on a swept choice cannot be written in one table; every cell
        file holds its complete settings.
        """
        seen: dict[str, list[Any]] = defaultdict(list)
        for cell in self.cells:
            for key, value in flat(cell.settings()).items():
                seen[key].append(value)
        swept = {key for key in seen for axis in self.sweep.axes if axis.sets(key)}
        apart = {key for key in seen if any(value != seen[key][0] for value in seen[key])} - swept
        open_tables = {key.rpartition(".")[0] for key in apart if key.split(".")[-1] in CHOOSERS}
        content: dict[str, Any] = {"title": self.title}
        for key, values in seen.items():
            choice_open = any(key.startswith(f"{table}.") for table in open_tables)
            if key not in swept | apart and not choice_open:
                set_key(content, key, values[0])
        if self.paper is not None:
            content["paper"] = self.paper.settings()
        content["sweep"] = {axis.key: axis.content for axis in self.sweep.axes}
        return content

    def to_toml(self) -> str:
        """Return the resolved scenario as TOML."""
        return tomli_w.dumps(self.resolved())


def batched(cells: Sequence[Cell], numbers: Sequence[int]) -> list[list[int]]:
    """Return the cells of these numbers in batches that train on the same minibatches.

    They depend on the scenario alone, so that the results are reproducible to the last bit.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        groups[repr(cells[number].shared())].append(number)
    batches = []
    for group in groups.values():
        pieces = -(-len(group) // BATCH_SIZE)
        size = -(-len(group) // pieces)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    return batches


def _read_paper(table: Any, cells: Sequence[Cell], sweep: Sweep) -> Paper:
    paper = read(Paper, table, "paper")
    known = {key for cell in cells for key in flat(cell.settings())}
    known |= {axis.key for axis in sweep.axes if axis.key == VARIANT}
    for key in paper.keys:
        if key not in known:
            hint = did_you_mean(key, known)
            raise ScenarioError(str(OptionError("paper.keys", "keys of the scenario", key, hint)))
    for row in paper.accuracy:
        if len(row) != len(paper.keys) + 1 or not isinstance(row[-1], int | float):
            must = f"rows of a value for each of the {len(paper.keys)} keys, and the accuracy [%]"
            raise ScenarioError(str(OptionError("paper.accuracy", must, row)))
    return paper


def choices_in(raws: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the choices in all cells, by the path of the table."""
    used: dict[str, set[str]] = defaultdict(set)
    for raw in raws:
        for key, value in flat(raw).items():
            path, _, last = key.rpartition(".")
            if last in CHOOSERS and isinstance(value, str):
                used[path].add(value)
    return used


def _with_bare_references(value: Any, code: Code, chooses: bool = False) -> Any:
    """Return a copy in which references name their files without a folder.

    Parameters
    ----------
    value : object
        A scenario, or a value in it.
    code : Code
        Where files are.
    chooses : bool
        Whether the value is that of a key that chooses a part.
    """
    if isinstance(value, Mapping):
        return {
            key: _with_bare_references(
                each, code, chooses or str(key).rpartition(".")[2] in CHOOSERS
            )
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_with_bare_references(each, code, chooses) for each in value]
    return code.bare(value) if chooses and is_reference(value) else value
