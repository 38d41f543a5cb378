"""The directory of a study.

scenario.toml    the scenario with its defaults written out
versions.json    package versions when the study was started
cells/0000.nc    one file per finished cell, numbered as in the sweep
underway/0.npz   checkpoint of a batch in progress
lock             held by the process that runs the study
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import filelock

from links import WaveformLink
from otafl._base.files import PART
from phy import NoFading
from scenarios.config.keys import flat
from scenarios.config.library import STUDY_FILE, read_toml
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError, StudyError
from scenarios.study.cellfile import CellFile, DamagedCellError
from scenarios.study.provenance import versions
from scenarios.study.writing import one_line_errors, write_text

VERSIONS_FILE = "versions.json"
_OWN = {STUDY_FILE, VERSIONS_FILE, "cells", "underway", "lock"}


class Folder:
    """A study on disk.

    Parameters
    ----------
    path : Path
        The directory; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._scenario_file = path, path / STUDY_FILE

    @property
    def exists(self) -> bool:
        """Whether a study has been started here."""
        return self._scenario_file.is_file()

    def scenario(self) -> Scenario:
        """Return the scenario of the study."""
        if not self.exists:
            why = f"it has no {STUDY_FILE}" if self.path.is_dir() else "there is no such directory"
            raise ScenarioError(f"{self.path} is not a study: {why}")
        return _scenario(self._scenario_file, self._scenario_file.stat().st_mtime_ns)

    def cell_file(self, number: int) -> Path:
        """Return the path of a cell's file."""
        return self.path / "cells" / f"{number:04}.nc"

    def checkpoint(self, batch: int) -> Path:
        """Return the path of a batch's checkpoint."""
        return self.path / "underway" / f"{batch}.npz"

    def write_cell(self, number: int, cell: CellFile) -> None:
        """Write a finished cell."""
        with one_line_errors(self.cell_file(number)):
            cell.write(self.cell_file(number))

    def read_cell(self, number: int) -> CellFile | None:
        """Return a cell, or None if it is not finished or its file is damaged."""
        try:
            return CellFile.read(self.cell_file(number))
        except (FileNotFoundError, DamagedCellError):
            return None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the study for this process; create the directory if it does not exist."""
        with one_line_errors(self.path):
            if self.path.exists() and not self._scenario_file.exists():
                names = [each.name for each in self.path.iterdir()]
                foreign = [name for name in names if name not in _OWN and not name.endswith(PART)]
                if foreign:
                    raise ScenarioError(
                        f"{self.path} must be a new or empty directory, but contains {foreign[0]}"
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
        """Store the scenario, or check that it is the stored one; return it as stored."""
        if self._scenario_file.exists():
            self._refuse_another(scenario)
        else:
            write_text(self.path / VERSIONS_FILE, json.dumps(versions(), indent=2))
            write_text(self._scenario_file, scenario.to_toml())
        for left in [*self.path.glob(f"*{PART}"), *self.path.glob(f"*/*{PART}")]:
            left.unlink(missing_ok=True)  # left by a process that was killed
        return self.scenario()

    def missing(self) -> list[int]:
        """Return the numbers of the cells that have not been run."""
        missing = []
        for number, cell in enumerate(self.scenario().cells):
            found = self.read_cell(number)
            if found is None:
                missing.append(number)
            elif not found.matches(cell):
                raise ScenarioError(
                    f"{self.cell_file(number)} was computed with other settings:\n"
                    f"{_difference(flat(found.settings), flat(cell.settings()))}\n"
                    "choose another directory"
                )
        return missing

    def _started_with(self) -> dict[str, str]:
        """Return the versions that the study was started with; empty if they are not known."""
        try:
            found = json.loads((self.path / VERSIONS_FILE).read_text())
        except (OSError, ValueError):
            found = None
        return found if isinstance(found, dict) else {}

    def refuse_other_channels(self, missing: Collection[int]) -> None:
        """Refuse to complete a study of 0.1 whose channels this version computes differently."""
        old = self._started_with().get("otafl", "").startswith("0.1")
        for link in [self.scenario().cells[n].link.build() for n in missing] if old else ():
            if isinstance(link, WaveformLink) or getattr(link, "fading", NoFading()).moving:
                how = "multipath in samples and moving channels differently from this version"
                raise ScenarioError(f"{self.path} was started with otafl 0.1, which computed {how}")

    def changed_versions(self) -> str:
        """Return which package versions have changed since the study was started."""
        old = self._started_with()
        if not old:
            return ""
        changed = {name: new for name, new in versions().items() if old.get(name) != new}
        return ", ".join(f"{name} {old.get(name)}, now {new}" for name, new in changed.items())

    def _refuse_another(self, scenario: Scenario) -> None:
        old, new = map(_numerical, (self.scenario(), scenario))
        if old != new:
            raise ScenarioError(
                f"{self.path} holds a study of another scenario:\n{_difference(old, new)}\n"
                "choose another directory (--out), or remove that one"
            )


@lru_cache(maxsize=4)
def _scenario(path: Path, changed: int) -> Scenario:
    return Scenario.read(read_toml(path))


def _numerical(scenario: Scenario) -> dict[str, Any]:
    """Return the keys that affect the numbers."""
    content = scenario.resolved()
    return flat({name: content[name] for name in content if name not in ("title", "paper")})


def _difference(old: dict, new: dict) -> str:
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return "\n".join(
        f"  {key}: there {old.get(key, 'not given')}, here {new.get(key, 'not given')}"
        for key in keys
    )
