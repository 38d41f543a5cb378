"""A batch as an engine is handed it: plain data that can be sent to another machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fl.rows import Row
from scenarios.config.cell import Cell
from scenarios.config.code import Code
from scenarios.config.parts import Part
from scenarios.config.reading import read
from scenarios.study.batch import run_cells

OnRound = Callable[[int, Sequence[Row | None]], None]


@dataclass(frozen=True)
class Task:
    """Cells that are trained together.

    Attributes
    ----------
    cells : list of mapping
        The settings of each.
    code : mapping of str to str
        SHA-256 of the user's files by name, as the driver has seen them.
    files : mapping of str to str
        Where the user's Python files are: those that references name, by their bare names, and the
        modules that these import, by their path relative to the same folder.
    data : mapping of str to str
        Where the data files that the settings name are, by SHA-256: elsewhere than the settings say
        for a worker that does not share the driver's disk.
    checkpoint : str
        The file for the state of the batch; empty if there is none.
    keep_state : bool
        Whether the last state is wanted.
    """

    cells: list[Mapping[str, Any]]
    code: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str = ""
    keep_state: bool = False

    @property
    def rounds(self) -> int:
        """Number of training rounds."""
        return self.cells[0]["training"]["rounds"]

    def to_json(self) -> str:
        """Return the task as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Return the task that :meth:`to_json` wrote."""
        return cls(**json.loads(text))


class ChangedCodeError(Exception):
    """The user's files are no longer those that the driver has seen."""


def run_task(task: Task, on_round: OnRound) -> list[bytes]:
    """Run a batch and return the content of its cells' files.

    Parameters
    ----------
    task : Task
        The batch.
    on_round : callable
        Called after each round with its number and the metrics of each run.
    """
    code = Code(Path(), {name: Path(path) for name, path in task.files.items()})
    cells = [read(Cell, relocated(each, task.data), code=code) for each in task.cells]
    found = {name: sha for cell in cells for name, sha in cell.all_code().items()}
    changed = [name for name, sha in task.code.items() if found.get(name) != sha]
    if changed:
        raise ChangedCodeError(f"{changed[0]} has changed while the study was running")
    checkpoint = Path(task.checkpoint) if task.checkpoint else None
    done = run_cells(cells, checkpoint, on_round)
    if task.data:  # the study keeps the paths of the driver
        done = [
            replace(cell, settings=dict(settings))
            for cell, settings in zip(done, task.cells, strict=True)
        ]
    return [cell.to_bytes() for cell in done]


def data_files(part: Part) -> dict[str, str]:
    """Return the paths of the data files that a table and those inside it name, by SHA-256."""
    sha256, path = (part.__dict__.get(name) for name in ("sha256", part.file_key))
    found: dict[str, str] = {}
    if isinstance(sha256, str) and isinstance(path, str) and sha256 and os.path.exists(path):
        found[sha256] = path
    for each in part.inside():
        found |= data_files(each)
    return found


def relocated(settings: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    """Return settings that name data files where they are.

    Parameters
    ----------
    settings : mapping
        Tables as plain values.
    places : mapping of str to str
        Paths by SHA-256.
    """
    tables = {
        name: relocated(value, places) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }
    sha256 = settings.get("sha256")
    if isinstance(sha256, str) and sha256 in places:
        tables["file" if "file" in settings else "name"] = places[sha256]
    return tables
