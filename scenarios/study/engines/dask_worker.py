"""What runs on a Dask worker: a batch that brings along all that it needs.

A worker shares no disk with the driver. The user's Python files and data files arrive once per
worker and are laid down in its own directory, which Dask removes when the worker ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import otafl
from scenarios.errors import explain
from scenarios.study.engines.processes import ENVIRONMENT
from scenarios.study.task import OnRound, Task, run_task

TOPIC = "otafl-progress"
"""Dask's name for the messages about finished rounds."""

REPORT_INTERVAL = 0.5  # [s]
_ENDING = ("closing", "closed", "failed")
_alone = threading.Lock()  # a batch uses things that a process has once, such as sys.path


@dataclass(frozen=True)
class TaskFiles:
    """Files that batches need, with their content.

    Attributes
    ----------
    sources : mapping of str to bytes
        The user's Python files by name.
    data : mapping of str to (str, mapping of str to bytes)
        By SHA-256: the name of a data file, empty for a directory, and the content of the file or
        of all files in the directory.
    """

    sources: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, tuple[str, Mapping[str, bytes]]] = field(default_factory=dict)

    def write_sources(self, folder: Path) -> dict[str, str]:
        """Write the user's Python files and return their paths by name."""
        for name, content in self.sources.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return {name: str(folder / name) for name in self.sources}

    def write_data(self, folder: Path) -> dict[str, str]:
        """Write the data files that ``folder`` does not have, and return all paths by SHA-256."""
        for sha256, (_, files) in self.data.items():
            if not (folder / sha256).exists():
                begun = Path(tempfile.mkdtemp(dir=folder))
                for name, content in files.items():
                    (begun / name).write_bytes(content)
                begun.rename(folder / sha256)
        return {sha256: str(folder / sha256 / name) for sha256, (name, _) in self.data.items()}


@dataclass(frozen=True)
class Job:
    """A batch as it travels to a worker.

    Attributes
    ----------
    number : int
        Which of the tasks.
    task : str
        The task as JSON, without paths on the driver's disk.
    session : str
        Tells one driver from others on the same scheduler.
    state : bytes or None
        The checkpoint to continue from.
    version : str
        The driver's version of otafl.
    """

    number: int
    task: str
    session: str
    state: bytes | None
    version: str = otafl.__version__


@dataclass(frozen=True)
class Answer:
    """What comes back.

    Attributes
    ----------
    cells : list of bytes
        The content of the file of each cell.
    state : bytes or None
        The checkpoint, if the task asks for it.
    failed : str
        What went wrong, in one line; empty if nothing did.
    """

    cells: list[bytes] = field(default_factory=list)
    state: bytes | None = None
    failed: str = ""


def run_job(job: Job, files_of_tasks: TaskFiles) -> Answer:
    """Run a batch on a Dask worker.

    When the driver has cancelled the batch or gone away, or when the worker is closing, the batch
    is abandoned after the current round.

    Parameters
    ----------
    job : Job
        The batch.
    files_of_tasks : TaskFiles
        The files that it needs.
    """
    from distributed import Reschedule, get_worker

    worker = get_worker()
    key, reported = worker.get_current_task(), 0.0

    def go_on() -> None:
        known = worker.state.tasks.get(key)
        wanted = known is not None and known.state in ("executing", "long-running")
        if worker.status.name in _ENDING or not wanted:
            raise Reschedule  # Dask forgets it if nobody waits for it

    def on_round(rounds: int, rows: Any) -> None:
        nonlocal reported
        go_on()
        if time.monotonic() - reported > REPORT_INTERVAL:
            reported = time.monotonic()
            message = {"session": job.session, "task": job.number, "rounds": rounds + 1}
            worker.log_event(TOPIC, message)

    if job.version != otafl.__version__:
        return Answer(
            failed=f"the Dask worker {worker.address} has otafl {otafl.__version__}, and this is "
            f"otafl {job.version}: install the same version on both"
        )
    os.environ.update(ENVIRONMENT)  # for TensorFlow, if it is not there yet
    with _turn(go_on), threadpool_limits(1, "blas"):
        task = Task.from_json(job.task)
        try:
            return _answer(job, task, files_of_tasks, Path(worker.local_directory), on_round)
        except Reschedule:
            raise
        except Exception as error:
            return Answer(failed=explain(error, task.code))


@contextlib.contextmanager
def _turn(go_on: Callable[[], None]) -> Iterator[None]:
    """Wait until no other thread of this process runs a batch."""
    while not _alone.acquire(timeout=REPORT_INTERVAL):
        go_on()
    try:
        yield
    finally:
        _alone.release()


def _answer(
    job: Job, task: Task, files_of_tasks: TaskFiles, folder: Path, on_round: OnRound
) -> Answer:
    data = files_of_tasks.write_data(folder)
    with tempfile.TemporaryDirectory(dir=folder) as own, _imports_forgotten(own):
        checkpoint = Path(own) / "checkpoint.npz"
        if job.state is not None:
            checkpoint.write_bytes(job.state)
        kept = str(checkpoint) if task.keep_state or job.state is not None else ""
        files = files_of_tasks.write_sources(Path(own) / "code")
        cells = run_task(replace(task, files=files, data=data, checkpoint=kept), on_round)
        return Answer(cells, checkpoint.read_bytes() if task.keep_state else None)


@contextlib.contextmanager
def _imports_forgotten(folder: str) -> Iterator[None]:
    """Undo what imports add to the search path: the next study may have modules of these names."""
    try:
        yield
    finally:
        sys.path[:] = [path for path in sys.path if not path.startswith(folder)]
