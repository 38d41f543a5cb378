"""The directory of a study, and what lies where in it.

scenario.toml    what is run, with its defaults
versions.json    what it was begun with
cells/0000.nc    one file a finished cell, numbered as in the sweep
underway/0.npz   the state of a batch that is being run
lock             held by the process that runs it
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import filelock

from fl.files import PART, replacing
from scenarios.cellfile import CellFile, DamagedCellError
from scenarios.library import STUDY_FILE, ScenarioError, StudyError, parsed
from scenarios.parts import flat
from scenarios.provenance import made_with
from scenarios.scenario import Scenario


class Folder:
    """A study on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def _scenario_file(self) -> Path:
        return self.path / STUDY_FILE

    def scenario(self) -> Scenario:
        """What it is a study of."""
        if not self._scenario_file.is_file():
            why = "it has no scenario.toml" if self.path.is_dir() else "there is no such directory"
            raise ScenarioError(f"{self.path} is not a study: {why}")
        return _scenario(self._scenario_file, self._scenario_file.stat().st_mtime_ns)

    def cell_file(self, number: int) -> Path:
        return self.path / "cells" / f"{number:04}.nc"

    def checkpoint(self, batch: int) -> Path:
        return self.path / "underway" / f"{batch}.npz"

    def write_cell(self, number: int, cell: CellFile) -> None:
        with clear_errors(self.cell_file(number)):
            cell.write(self.cell_file(number))

    def read_cell(self, number: int) -> CellFile | None:
        """None if it is not finished, or damaged."""
        try:
            return CellFile.read(self.cell_file(number))
        except (FileNotFoundError, DamagedCellError):
            return None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """For one process at a time; made if it is not there."""
        with clear_errors(self.path):
            if self.path.exists() and not self._scenario_file.exists():
                names = [each.name for each in self.path.iterdir()]
                foreign = [name for name in names if name not in OWN and not name.endswith(PART)]
                if foreign:
                    raise ScenarioError(
                        f"{self.path} has other things in it ({foreign[0]}): give a new or an "
                        "empty directory"
                    )
            (self.path / "cells").mkdir(parents=True, exist_ok=True)
            (self.path / "underway").mkdir(exist_ok=True)
            lock = filelock.FileLock(self.path / "lock")
            try:
                lock.acquire(blocking=False)
            except filelock.Timeout:
                raise StudyError(
                    f"{self.path} is being run by another process: wait for it, or stop it"
                ) from None
        try:
            yield
        finally:
            lock.release()

    def begin(self, scenario: Scenario) -> Scenario:
        """Write down what is run, or make sure that it is the same; give it as it is written."""
        if self._scenario_file.exists():
            self._refuse_another(scenario)
        else:
            _write(self.path / "versions.json", json.dumps(made_with(), indent=2))
            _write(self._scenario_file, scenario.to_toml())
        for left in [*self.path.glob(f"*{PART}"), *self.path.glob(f"*/*{PART}")]:
            left.unlink(missing_ok=True)  # of a process that was killed
        return self.scenario()

    def missing(self) -> list[int]:
        """The numbers of the cells that are still to be run."""
        missing = []
        for number, cell in enumerate(self.scenario().cells):
            found = self.read_cell(number)
            if found is None:
                missing.append(number)
            elif not found.is_of(cell):
                raise ScenarioError(
                    f"{self.cell_file(number)} was made with other settings:\n"
                    f"{_difference(flat(found.settings), flat(cell.settings()))}\n"
                    "give another directory"
                )
        return missing

    def changed_versions(self) -> str:
        """In what the packages differ from those that the study was begun with."""
        try:
            old = json.loads((self.path / "versions.json").read_text())
        except (OSError, ValueError):
            return ""
        new = made_with()
        if not isinstance(old, dict):
            return ""
        changed = [name for name in new if old.get(name) != new[name]]
        return ", ".join(f"{name} {old.get(name)}, now {new[name]}" for name in changed)

    def _refuse_another(self, scenario: Scenario) -> None:
        old, new = (flat(each.resolved()) for each in (self.scenario(), scenario))
        for each in (old, new):  # what stands beside the numbers does not change them
            for key in [key for key in each if key.partition(".")[0] in ("title", "paper")]:
                del each[key]
        if old != new:
            raise ScenarioError(
                f"{self.path} has a study of another scenario:\n{_difference(old, new)}\n"
                "give another directory (--out), or remove that one"
            )


OWN = {STUDY_FILE, "versions.json", "cells", "underway", "lock"}


@lru_cache(maxsize=4)
def _scenario(path: Path, changed: int) -> Scenario:
    return Scenario.of(parsed(path))


def _difference(old: dict, new: dict) -> str:
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return "\n".join(
        f"  {key}: there {old.get(key, 'not given')}, here {new.get(key, 'not given')}"
        for key in keys
    )


def _write(path: Path, text: str) -> None:
    with writing(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path``, or of what that points to, when it is whole."""
    if path.is_dir():
        raise ScenarioError(f"{path} cannot be written: it is a directory")
    with clear_errors(path):
        target = path.resolve()
        if target.exists() and not target.is_file():  # a terminal, a pipe
            with path.open("wb") as file:
                yield file
        else:
            with replacing(target) as file:
                yield file


@contextlib.contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """One line for a full disk, a directory that is read-only and the like."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{path} cannot be written: {os.strerror(error.errno or errno.EIO)}"
        ) from error
