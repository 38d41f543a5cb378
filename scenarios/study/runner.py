"""Run the missing cells of a study on several processors; it can be stopped at any time."""

from __future__ import annotations

import os
from pathlib import Path

from otafl._base.names import check_names
from otafl._base.validation import OptionError, integer
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError
from scenarios.study.batch import check
from scenarios.study.folder import Folder
from scenarios.study.pool import run_batches
from scenarios.study.progress import Display


@check_names
def run_study(
    scenario: Scenario, out: str | Path, *, workers: int | None = None, progress: bool = True
) -> Path:
    """Run the missing cells of a study.

    Finished cells are kept: a study that was interrupted resumes.

    Parameters
    ----------
    scenario : Scenario
        What to run; see :func:`load_scenario`.
    out : str or path
        A new directory, or that of the same study.
    workers : int, optional
        Number of processes, by default one per processor; the results do not depend on it.
    progress : bool
        Whether to show progress on standard error.

    Returns
    -------
    Path
        The directory, for :func:`open_study`.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or differs from that of the study in ``out``.
    """
    if workers is not None:
        try:
            workers = integer("workers", workers, least=1)
        except OptionError as error:
            raise ScenarioError(str(error)) from None
    if not isinstance(scenario, Scenario):
        must = "a Scenario, such as load_scenario returns"
        raise ScenarioError(str(OptionError("scenario", must, scenario)))
    folder = Folder(Path(out))
    if not folder.exists or folder.missing():
        check(scenario)
    with folder.locked():
        scenario = folder.begin(scenario)
        missing = set(folder.missing())
        folder.refuse_other_channels(missing)
        batches = [n for n, cells in enumerate(scenario.batches) if missing.intersection(cells)]
        with Display(scenario, batches, shown=progress) as display:
            changed = folder.changed_versions()
            if batches and changed:
                display.note(f"versions have changed, so the last digits may differ: {changed}")
            run_batches(folder.path, batches, workers or processors(), display.show)
    return folder.path


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
