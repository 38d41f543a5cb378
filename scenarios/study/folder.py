"""The directory of a study.

scenario.toml      the scenario with its defaults written out
study.json         its cells: their places in the sweep, digests and batches
cells/DIGEST.nc    one file per finished cell, named by the digest of its settings
underway/KEY.npz   checkpoint of a batch
code/              copies of the user's own files; earlier/SHA256/ has those that were replaced
versions.json      package versions when the study was started
lock               held by the process that runs the study
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import filelock

from otafl._base.files import PART, file_sha256
from scenarios.config.cell import Cell
from scenarios.config.code import Code
from scenarios.config.library import CODE_FOLDER, INDEX_FILE, STUDY_FILE, read_toml
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError, StudyError
from scenarios.study.cellfile import CellFile, DamagedCellError
from scenarios.study.growth import StudyPlan, extended, new_study
from scenarios.study.index import Index
from scenarios.study.provenance import versions
from scenarios.study.writing import one_line_errors, write_text, writing

VERSIONS_FILE = "versions.json"
_OWN = {STUDY_FILE, INDEX_FILE, VERSIONS_FILE, CODE_FOLDER, "cells", "underway", "lock"}


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

    @property
    def numbered(self) -> bool:
        """Whether an earlier version wrote the study, whose cells are numbered."""
        return self.exists and not (self.path / INDEX_FILE).is_file()

    def scenario(self) -> Scenario:
        """Return the scenario of the study; imports the user's code."""
        index = Index.read(self.path)  # raises if there is no study
        content = read_toml(self._scenario_file)
        code = Code(self.path / CODE_FOLDER)
        stored_by = index.written_by or self.started_with().get("otafl", "0")
        return Scenario.read(content, code=code, stored_by=stored_by)

    def index(self) -> Index:
        """Return which cells the study has."""
        return Index.read(self.path)

    def cell_file(self, digest: str) -> Path:
        """Return the path of a cell's file."""
        return self.path / "cells" / f"{digest}.nc"

    def checkpoint(self, digests: Sequence[str], code: Mapping[str, str]) -> Path:
        """Return the path of a batch's checkpoint.

        Parameters
        ----------
        digests : sequence of str
            Those of its cells.
        code : mapping of str to str
            SHA-256 of the user's files: what other code has begun is not continued.
        """
        total = hashlib.sha256(json.dumps([list(digests), sorted(code.items())]).encode())
        return self.path / "underway" / f"{total.hexdigest()[:20]}.npz"

    def write_cell(self, digest: str, content: bytes) -> None:
        """Write a finished cell."""
        with writing(self.cell_file(digest)) as file:
            file.write(content)

    def finished(self, digests: Iterable[str]) -> dict[str, CellFile]:
        """Return those of the cells that are finished, by digest."""
        return {digest: file for digest in digests if (file := self.read_cell(digest)) is not None}

    def read_cell(self, digest: str) -> CellFile | None:
        """Return a cell, or None if it is not finished, or its file is damaged or another's."""
        try:
            file = CellFile.read(self.cell_file(digest))
        except (FileNotFoundError, DamagedCellError):
            return None
        return file if file.name in ("", digest) else None

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

    def with_cells_of(self, scenario: Scenario) -> StudyPlan:
        """Return the study with the cells of a scenario added; nothing is written.

        Raises
        ------
        ScenarioError
            If the scenario differs from that of the study in more than what it sweeps.
        """
        if not self.exists:
            return new_study(scenario)
        if self.numbered:
            raise ScenarioError(
                f"{self.path} was written by an earlier version: otafl upgrade {self.path} lets "
                "this version continue it"
            )
        old, index = self.scenario(), self.index()
        self._refuse_other_meaning(old, index)
        try:
            return extended(old, index, scenario)
        except ScenarioError as error:
            raise ScenarioError(
                f"{self.path} holds a study of another scenario:\n{error}\n"
                "choose another directory (--out), or remove that one"
            ) from None

    def _refuse_other_meaning(self, old: Scenario, index: Index) -> None:
        """Refuse a study whose stored scenario does not describe its finished cells any more."""
        if file_sha256(self._scenario_file) != index.scenario_sha256:
            return  # killed between writing the two, or edited by hand
        known = {cell.digest() for cell in old.cells}
        lost = self.finished(set(index.digests.values()) - known)
        if lost:
            raise StudyError(
                f"{self.path} cannot be continued: {len(lost)} of its finished cells have settings "
                "that its scenario no longer describes, since a part has other options now. It can "
                "still be shown and plotted; choose another directory to run it again"
            )

    def store(self, study: StudyPlan) -> None:
        """Write what a study consists of; what a killed process left is removed."""
        if not self.exists:
            write_text(self.path / VERSIONS_FILE, json.dumps(versions(), indent=2))
        sources = study.scenario.code.sources.items()
        contents = {f"{CODE_FOLDER}/{name}": path.read_bytes() for name, path in sources}
        # the index before the scenario: it may have more cells, never fewer
        scenario = study.scenario.to_toml().encode()
        sha256 = hashlib.sha256(scenario).hexdigest()
        index = replace(study.index, written_by=versions()["otafl"], scenario_sha256=sha256)
        contents |= {INDEX_FILE: index.to_json().encode(), STUDY_FILE: scenario}
        for name, content in contents.items():
            path = self.path / name
            with one_line_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file() and path.read_bytes() == content:
                continue
            if path.is_file() and name.startswith(f"{CODE_FOLDER}/"):
                self._keep_earlier(path)
            with writing(path) as file:
                file.write(content)
        for left in [*self.path.glob(f"*{PART}"), *self.path.glob(f"*/*{PART}")]:
            left.unlink(missing_ok=True)

    def _keep_earlier(self, path: Path) -> None:
        """Keep a copy of a user's file, under its SHA-256: cells may have been made with it."""
        kept = self.path / CODE_FOLDER / "earlier" / file_sha256(path)[:20] / path.name
        with one_line_errors(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            path.replace(kept)

    def started_with(self) -> dict[str, str]:
        """Return the versions that the study was started with; empty if they are not known."""
        try:
            found = json.loads((self.path / VERSIONS_FILE).read_text())
        except (OSError, ValueError):
            found = None
        return found if isinstance(found, dict) else {}

    def changed_versions(self) -> str:
        """Return which package versions have changed since the study was started."""
        old = self.started_with()
        if not old:
            return ""
        changed = {name: new for name, new in versions().items() if old.get(name) != new}
        return ", ".join(f"{name} {old.get(name)}, now {new}" for name, new in changed.items())


def changed_code(finished: Mapping[str, CellFile], cells: Mapping[str, Cell], study: Path) -> str:
    """Say which of the user's files have changed since cells were computed; empty if none.

    Files that are those in the study's own folder were accepted before.

    Parameters
    ----------
    finished : mapping of str to CellFile
        Finished cells by digest.
    cells : mapping of str to Cell
        The same cells as they would be run now.
    study : Path
        The directory of the study.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for digest, file in finished.items():
        now = cells[digest].all_code()
        for name, sha in file.code.items():
            copy = study / CODE_FOLDER / name
            accepted = copy.is_file() and file_sha256(copy) == now.get(name)
            if now.get(name, sha) != sha and not accepted:
                counts[name, sha, now[name]] += 1
    return "\n".join(
        f"{name} has changed since {count} of the cells were computed: its sha256 was {old}, and "
        f"is now {new}"
        for (name, old, new), count in counts.items()
    )
