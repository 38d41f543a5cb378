"""Studies of earlier versions: make them growable, and refuse to mix what does not mix."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from links import WaveformLink
from phy import NoFading
from scenarios.config.cell import Cell
from scenarios.config.code import Code
from scenarios.config.keys import flat
from scenarios.config.library import CODE_FOLDER, STUDY_FILE, read_toml
from scenarios.config.link import upgraded
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError
from scenarios.study.cellfile import CellFile
from scenarios.study.folder import Folder
from scenarios.study.growth import new_study
from scenarios.study.writing import one_line_errors


def upgrade_study(folder: str | Path) -> int | None:
    """Let this version continue a study of an earlier one, without running a cell again.

    Cells that an earlier version numbered are renamed to the digest of their settings; their
    content stays as it is.

    Parameters
    ----------
    folder : str or path
        The directory of the study.

    Returns
    -------
    int or None
        How many finished cells the study has; None if it needed no upgrade.

    Raises
    ------
    ScenarioError
        If the directory does not hold a study, or if a cell has other settings than the study.
    """
    study = Folder(Path(folder))
    numbered = study.index()
    if not study.numbered:
        return None
    content = read_toml(study.path / STUDY_FILE)
    code, stored_by = Code(study.path / CODE_FOLDER), study.started_with().get("otafl", "0")
    scenario = Scenario.read(content, code=code, stored_by=stored_by)
    with study.locked():
        names = {}
        for number, cell in enumerate(scenario.cells):
            old = study.cell_file(numbered.digests[scenario.sweep.places[number]])
            file = study.read_cell(old.stem)
            if file is not None:
                _refuse_other_settings(old, file, cell)
                names[old] = study.cell_file(cell.digest())
        for old, new in names.items():
            with one_line_errors(study.path):
                old.replace(new)
        study.store(new_study(scenario))
        return len(study.finished(study.index().digests.values()))


def _refuse_other_settings(path: Path, file: CellFile, cell: Cell) -> None:
    """Refuse a cell that is not the run that its place describes.

    Only options that both have are compared: another version may have fewer.
    """
    there = flat({**file.settings, "link": upgraded(file.settings["link"])})
    here: Mapping[str, Any] = flat(json.loads(json.dumps(cell.settings())))
    different = [key for key in there.keys() & here.keys() if there[key] != here[key]]
    if different:
        lines = [f"  {key}: there {there[key]}, here {here[key]}" for key in sorted(different)]
        raise ScenarioError("\n".join([f"{path} was computed with other settings:", *lines]))


def refuse_other_channels(
    folder: Path, finished: Mapping[str, CellFile], missing: Iterable[Cell]
) -> None:
    """Refuse to add cells to those of 0.1 whose channels this version computes differently."""
    makers = {file.made_with.get("otafl", "") for file in finished.values()}
    if not any(maker.split(".")[:2] == ["0", "1"] for maker in makers):
        return
    for link in [cell.link.build() for cell in missing]:
        if isinstance(link, WaveformLink) or getattr(link, "fading", NoFading()).moving:
            how = "multipath in samples and moving channels differently from this version"
            raise ScenarioError(
                f"{folder} has cells of otafl 0.1, which computed {how}: choose another directory"
            )
