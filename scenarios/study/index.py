"""Which cells a study has: the places of its sweep, and the batches that they are run in.

The index is read without any of the code that a study was run with. It is written once a study is
started, and again when it grows; batches stay as they are, so that an interrupted study resumes
with the same ones and ends with the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scenarios.config.library import INDEX_FILE, STUDY_FILE, read_toml
from scenarios.config.sweep import Axis, Plain, Sweep, read_axes
from scenarios.errors import ScenarioError, StudyError

FORMAT = 1
"""Version of the file format."""

Place = tuple[Plain, ...]
"""The labels of a cell, one per axis."""


@dataclass(frozen=True)
class Index:
    """The cells of a study.

    Attributes
    ----------
    title : str
        Title of the scenario.
    sweep : Sweep
        Its axes, with labels only.
    paper : mapping or None
        Published accuracies, as in the scenario.
    batches : tuple of tuple of (str, Place)
        Digest and place of every cell that was asked for, in batches.
    keep_checkpoints : bool
        Whether the last state of every batch is kept.
    written_by : str
        The version of otafl that wrote the index.
    scenario_sha256 : str
        SHA-256 of the scenario file that it belongs to.
    """

    title: str
    sweep: Sweep
    paper: Mapping[str, Any] | None
    batches: tuple[tuple[tuple[str, Place], ...], ...]
    keep_checkpoints: bool = False
    written_by: str = ""
    scenario_sha256: str = ""

    @cached_property
    def digests(self) -> dict[Place, str]:
        """Digests of the cells by place."""
        return {place: digest for batch in self.batches for digest, place in batch}

    @property
    def size(self) -> int:
        """Number of different cells, with places that nobody has asked for yet."""
        return len(set(self.digests.values())) + self.sweep.size - len(self.digests)

    @cached_property
    def runs(self) -> list[list[str]]:
        """Digests of the cells that are trained together; equal ones are trained once."""
        seen: set[str] = set()
        runs = []
        for batch in self.batches:
            new = [digest for digest in dict.fromkeys(d for d, _ in batch) if digest not in seen]
            seen.update(new)
            runs += [new] if new else []
        return runs

    def to_json(self) -> str:
        """Return the content of the file."""
        axes = [{"key": axis.key, "labels": list(axis.labels)} for axis in self.sweep.axes]
        batches = [[[digest, *place] for digest, place in batch] for batch in self.batches]
        content = {
            "format": FORMAT,
            "title": self.title,
            "axes": axes,
            "paper": self.paper,
            "keep_checkpoints": self.keep_checkpoints,
            "written_by": self.written_by,
            "scenario_sha256": self.scenario_sha256,
            "batches": batches,
        }
        return json.dumps(content, indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Index:
        """Read the index of a study.

        Raises
        ------
        ScenarioError
            If the directory does not hold a study.
        StudyError
            If the index is damaged, or written by a later version.
        """
        path = folder / INDEX_FILE
        if not path.is_file():
            return cls._numbered(folder)
        try:
            content = json.loads(path.read_text())
            if content["format"] > FORMAT:
                raise StudyError(f"{path} was written by a later version of otafl: upgrade otafl")
            labels = {each["key"]: tuple(each["labels"]) for each in content["axes"]}
            axes = tuple(Axis(key, each, each) for key, each in labels.items())
            batches = tuple(
                tuple((digest, tuple(place)) for digest, *place in batch)
                for batch in content["batches"]
            )
            kept = (content[name] for name in ("keep_checkpoints", "written_by", "scenario_sha256"))
            return cls(content["title"], Sweep(axes), content["paper"], batches, *kept)
        except OSError as error:
            raise StudyError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(
                f"{path} is damaged ({error!r}): remove it and run otafl upgrade {folder}"
            ) from None

    @classmethod
    def _numbered(cls, folder: Path) -> Index:
        """Return the index of a study of an earlier version, whose cells are numbered."""
        if not (folder / STUDY_FILE).is_file():
            why = f"it has no {STUDY_FILE}" if folder.is_dir() else "there is no such directory"
            raise ScenarioError(f"{folder} is not a study: {why}")
        content = read_toml(folder / STUDY_FILE)
        sweep = Sweep(read_axes(content.get("sweep", {})))
        names = [(f"{number:04}", place) for number, place in enumerate(sweep.places)]
        return cls(content.get("title", ""), sweep, content.get("paper"), (tuple(names),))
