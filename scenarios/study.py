"""Running what is missing of a study, on several processors; it can stop at any time."""

from __future__ import annotations

import os
from pathlib import Path

from scenarios.batch import check
from scenarios.folder import Folder
from scenarios.library import ScenarioError
from scenarios.pool import run_batches
from scenarios.progress import Display
from scenarios.scenario import Scenario


def run_study(
    scenario: Scenario, out: str | Path, *, workers: int | None = None, progress: bool = True
) -> Path:
    """Run what is missing of a study, and give back its directory, for :func:`open_study`.

    out : a new directory, or that of the same study, which then goes on
    workers : processes at a time, by default one a processor; results do not depend on it
    progress : tell how far it is, on the standard error
    """
    if workers is not None and workers < 1:
        raise ScenarioError(f"workers = {workers} is not allowed: give a whole number >= 1")
    folder = Folder(Path(out))
    check(scenario)
    with folder.locked():
        scenario = folder.begin(scenario)
        missing = set(folder.missing())
        batches = [
            number for number, cells in enumerate(scenario.batches) if missing.intersection(cells)
        ]
        with Display(scenario, batches, shown=progress) as display:
            changed = folder.changed_versions()
            if batches and changed:
                display.note(f"begun with other versions, the last digits may differ: {changed}")
            run_batches(folder.path, batches, workers or processors(), display.show)
    return folder.path


def processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
