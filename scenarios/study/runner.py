"""Run the missing cells of a study; it can be stopped at any time, and grow."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from otafl._base.names import check_names
from otafl._base.validation import OptionError, choice, integer
from scenarios.config.importing import refuse_while_importing
from scenarios.config.loading import load_scenario
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError, StudyError
from scenarios.study.batch import check
from scenarios.study.cellfile import CellFile
from scenarios.study.engines import Engine, Finished, Progress
from scenarios.study.engines.local import run_locally
from scenarios.study.folder import Folder, changed_code
from scenarios.study.growth import StudyPlan, new_study
from scenarios.study.progress import Display
from scenarios.study.task import Task, data_files
from scenarios.study.upgrade import refuse_other_channels
from scenarios.study.writing import writing

ENGINES = ("local", "dask")


@check_names
def run_study(
    scenario: Scenario | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    workers: int | None = None,
    progress: bool = True,
    shard: str | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    security: Mapping[str, str] | None = None,
    keep_checkpoints: bool = False,
    rerun: bool = False,
    accept_changed_code: bool = False,
) -> Path:
    """Run the missing cells of a study.

    Finished cells are kept: a study that was interrupted resumes, and one that is run again with
    more values, seeds, algorithms or variants grows by the missing cells.

    Parameters
    ----------
    scenario : Scenario, mapping, str or path
        What to run; see :func:`load_scenario`. A mapping may have objects, such as a link, where a
        file has tables.
    out : str or path
        A new directory, or that of the same study.
    workers : int, optional
        Number of processes, by default one per processor; the results do not depend on it.
    progress : bool
        Whether to show progress on standard error.
    shard : str, optional
        ``"2/4"`` runs the second of four parts of the batches, in a directory of its own; see
        :func:`merge_studies`.
    engine : {"local", "dask"}
        Processes on this machine, or Dask.
    scheduler : str, optional
        Address of a running Dask scheduler, ``tcp://...`` or ``tls://...``; by default a cluster on
        this machine is started.
    security : mapping of str to str, optional
        Files for a ``tls://`` scheduler: ``ca_file``, ``cert`` and ``key``.
    keep_checkpoints : bool
        Whether to keep the last state of every batch, from which more rounds can be run later. The
        study remembers it.
    rerun : bool
        Whether finished cells without a checkpoint may be run again if there are to be more rounds.
    accept_changed_code : bool
        Whether to go on although the user's files have changed since cells were computed.

    Returns
    -------
    Path
        The directory, for :func:`open_study`.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or differs from that of the study in more than what it sweeps.
    """
    refuse_while_importing("run_study")
    if not isinstance(scenario, Scenario):
        if not isinstance(scenario, Mapping | str | Path):
            must = "a Scenario, such as load_scenario returns, or what load_scenario takes"
            raise ScenarioError(str(OptionError("scenario", must, scenario)))
        scenario = load_scenario(scenario)
    try:
        part, run = _part(shard), _engine(engine, workers, scheduler, security)
    except OptionError as error:
        raise ScenarioError(str(error)) from None
    folder = Folder(Path(out))
    if not folder.exists:
        new = new_study(scenario)
        check((cell, new.labels[digest]) for digest, cell in new.cells.items())
    with folder.locked():
        resumed = folder.exists
        study = folder.with_cells_of(scenario)
        finished = folder.finished(study.cells)
        missing = study.asked - finished.keys()
        changed = changed_code(finished, study.cells, folder.path)
        if changed and not accept_changed_code:
            raise ScenarioError(
                f"{changed}\nchoose another directory, or add --accept-changed-code to go on: each "
                "cell keeps the sha256 of its own code"
            )
        if resumed:
            refuse_other_channels(folder.path, finished, [study.cells[d] for d in missing])
            checkpoints = _continued(folder, study, rerun)
            check((study.cells[digest], study.labels[digest]) for digest in sorted(missing))
            for before, after in checkpoints:
                before.replace(after)
        keep = keep_checkpoints or study.index.keep_checkpoints
        folder.store(replace(study, index=replace(study.index, keep_checkpoints=keep)))
        batches = [batch for batch in study.index.runs[part] if not missing.isdisjoint(batch)]
        with Display(shown=progress) as display:
            versions = folder.changed_versions()
            if batches and versions:
                display.note(f"versions have changed, so the last digits may differ: {versions}")
            if changed:
                display.note(changed)
            if part.start >= len(study.index.runs):
                count = len(study.index.runs)
                display.note(f"the study has {count} batches, and this part none of them")
            _drive(run, folder, study, batches, finished, display, keep)
    return folder.path


def _drive(
    run: Engine,
    folder: Folder,
    study: StudyPlan,
    batches: Sequence[Sequence[str]],
    finished: dict[str, CellFile],
    display: Display,
    keep_checkpoints: bool,
) -> None:
    """Let an engine run batches, given by the digests of their cells, and store what it returns."""
    tasks = [_task(batch, folder, study, keep_checkpoints) for batch in batches]
    display.begin(tasks, finished.values(), len(study.cells))
    with closing(run(tasks)) as events:
        for event in events:
            if isinstance(event, Progress):
                display.advanced(*event)
                continue
            batch, task = batches[event.task], tasks[event.task]
            files = _stored(folder, batch, event, task, keep_checkpoints)
            display.finished(event.task, [files[d] for d in batch if d not in finished])
            finished |= files
    for digest, file in finished.items():
        if file.diverged:
            display.note(": ".join(filter(None, [study.labels[digest], file.diverged])))


def _part(shard: str | None) -> slice:
    """Return which batches a shard has: every N-th, from the i-th on."""
    if shard is None:
        return slice(0, None, 1)
    number, _, total = str(shard).partition("/")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise OptionError("shard", "i/N with 1 <= i <= N, such as 2/4", shard)
    return slice(int(number) - 1, None, int(total))


def _engine(
    name: str, workers: int | None, scheduler: str | None, security: Mapping[str, str] | None
) -> Engine:
    choice("engine", name, ENGINES)
    if workers is not None:
        integer("workers", workers, least=1)
    if name == "local":
        for option, given in (("scheduler", scheduler), ("security", security)):
            if given is not None:
                raise OptionError(option, "left out with engine = 'local'", given)
        return partial(run_locally, workers=workers or processors())
    from scenarios.study.engines.dask import dask_engine

    return dask_engine(workers or processors(), scheduler, security)


def _task(batch: Sequence[str], folder: Folder, study: StudyPlan, keep_state: bool) -> Task:
    """Return a batch, given by the digests of its cells, as an engine is handed it."""
    cells, code = [study.cells[digest] for digest in batch], study.scenario.code
    return Task(
        cells=[cell.settings() for cell in cells],
        code=study.code_of(batch),
        files={name: str(path) for name, path in {**code.sources, **code.files}.items()},
        data={sha256: path for cell in cells for sha256, path in data_files(cell).items()},
        checkpoint=str(folder.checkpoint(batch, study.code_of(batch)).resolve()),
        keep_state=keep_state,
    )


def _stored(
    folder: Folder, batch: Sequence[str], done: Finished, task: Task, keep: bool
) -> dict[str, CellFile]:
    """Write the cells of a batch that are not there yet, and return all of them by digest."""
    for digest, content in zip(batch, done.cells, strict=True):
        if folder.read_cell(digest) is None:
            folder.write_cell(digest, content)
    checkpoint = Path(task.checkpoint)
    if not keep:
        checkpoint.unlink(missing_ok=True)
    elif done.state is not None:
        with writing(checkpoint) as file:
            file.write(done.state)
    files = folder.finished(batch)
    if len(files) < len(batch):
        raise StudyError("a worker returned other cells than it was asked for")
    return files


def _continued(folder: Folder, study: StudyPlan, rerun: bool) -> list[tuple[Path, Path]]:
    """Return the checkpoints that batches are to be continued from, and what they are called then.

    Where there are to be more rounds, finished cells without a checkpoint are run again from the
    start: that is refused unless it is wanted.
    """
    renamed, lost = [], 0
    for digests in study.index.runs:
        shorter = [study.shorter[digest] for digest in digests if digest in study.shorter]
        if not shorter:
            continue
        code = study.code_of(digests)
        before, after = (folder.checkpoint(each, code) for each in (shorter, digests))
        if before.is_file():
            renamed.append((before, after))
        elif not after.is_file():
            lost += len(folder.finished(shorter))
    if lost and not rerun:
        rounds = {cell.training.rounds for cell in study.cells.values()}
        raise ScenarioError(
            f"training.rounds is now {rounds.pop()}, but {lost} of the finished cells have no "
            "checkpoint to continue from, since they were run without --keep-checkpoints: add "
            "--rerun to run them again from the start, or choose another directory"
        )
    return renamed


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
