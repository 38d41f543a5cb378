"""Join parts of a study that were run in directories of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from otafl._base.names import check_names
from scenarios.errors import ScenarioError
from scenarios.study.folder import Folder, changed_code
from scenarios.study.growth import extended
from scenarios.study.writing import writing


@check_names
def merge_studies(parts: Sequence[str | Path], out: str | Path) -> tuple[int, int]:
    """Join parts of a study: what ``run_study(..., shard="i/N")`` ran on several machines.

    The parts may also sweep different values of the same keys, such as other seeds.

    Parameters
    ----------
    parts : sequence of str or path
        The directories of the parts; they are left as they are.
    out : str or path
        A new directory, or that of the same study.

    Returns
    -------
    tuple of (int, int)
        How many finished cells the whole study has, and how many cells in all.

    Raises
    ------
    ScenarioError
        If a part is no study, or one that differs in more than what it sweeps; nothing is written.
    """
    if not parts:
        raise ScenarioError("at least one part must be given")
    sources = [Folder(Path(part)) for part in parts]
    for source in sources:
        source.index()  # or say that it is no study
        if source.numbered:
            raise ScenarioError(
                f"{source.path} was written by an earlier version: run otafl upgrade {source.path}"
            )
    whole = Folder(Path(out))
    study = whole.with_cells_of(sources[0].scenario())
    for source in sources[1:]:
        try:
            study = extended(study.scenario, study.index, source.scenario())
        except ScenarioError as error:
            raise ScenarioError(
                f"{source.path} is not a part of the same study as {sources[0].path}:\n{error}"
            ) from None
    for source in [*sources, *([whole] if whole.exists else [])]:
        changed = changed_code(source.finished(study.cells), study.cells, source.path)
        if changed:
            raise ScenarioError(f"{source.path}: {changed}")
    keep = any(source.index().keep_checkpoints for source in sources)
    with whole.locked():
        whole.store(replace(study, index=replace(study.index, keep_checkpoints=keep)))
        for source in sources:
            for digest in source.finished(study.cells):
                if whole.read_cell(digest) is None:
                    whole.write_cell(digest, source.cell_file(digest).read_bytes())
            for batch in study.index.runs if keep else ():
                state = whole.checkpoint(batch, study.code_of(batch))
                kept = source.path / "underway" / state.name
                if kept.is_file() and not state.is_file():
                    with writing(state) as file:
                        file.write(kept.read_bytes())
        return len(whole.finished(study.cells)), study.index.size
