"""The default engine: worker processes on this machine, as seen from the process that drives them.

The workers are plain subprocesses that talk through pipes. They need no ``__main__`` guard in the
user's script, end within moments when the driver dies in whatever way, and save a checkpoint when
they are told to stop; pools of the standard library and loky do not.
"""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from scenarios.errors import StudyError
from scenarios.study.engines import Event, Finished, Progress, processes
from scenarios.study.task import Task

PATIENCE = 3.0
"""Time for the workers to save their checkpoints before they are killed [s]."""

Message = dict[str, Any]


class Worker:
    """A worker process.

    Parameters
    ----------
    messages : queue
        Receives pairs of this worker and a message; None when the process has ended.
    study : Path
        The study that it works for; shown by tools that list processes.
    """

    def __init__(self, messages: queue.Queue[tuple[Worker, Message | None]], study: Path) -> None:
        self.process = processes.start("scenarios.study.engines.worker", str(study))
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()

    def _listen(self, messages: queue.Queue[tuple[Worker, Message | None]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # other lines come from something that the worker could not silence
            with contextlib.suppress(json.JSONDecodeError):
                messages.put((self, json.loads(line)))
        messages.put((self, None))

    def assign(self, number: int, task: Task) -> None:
        """Hand the worker a task."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # if it has died, its None arrives
            self.process.stdin.write(f"{number} {task.to_json()}\n")
            self.process.stdin.flush()

    def dismiss(self) -> None:
        """Tell the worker to save a checkpoint and exit."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()


def run_locally(tasks: Sequence[Task], workers: int) -> Generator[Event, None, None]:
    """Run tasks in processes on this machine.

    Parameters
    ----------
    tasks : sequence of Task
        Batches, with files for their checkpoints.
    workers : int
        Batches that run at the same time.

    Yields
    ------
    Event
        As it happens.

    Raises
    ------
    StudyError
        If a worker fails or ends early.
    """
    waiting = deque(enumerate(tasks))
    messages: queue.Queue[tuple[Worker, Message | None]] = queue.Queue()
    crew = [
        Worker(messages, Path(task.checkpoint).parents[1])
        for task in tasks[: min(workers, len(waiting))]
    ]
    unfinished = len(waiting)
    try:
        for worker in crew:
            worker.assign(*waiting.popleft())
        while unfinished:
            worker, message = messages.get()
            if message is None:
                code = worker.process.wait()
                raise StudyError(
                    f"a worker process ended unexpectedly (exit code {code}); finished cells are "
                    "saved, run the study again to resume"
                )
            if "failed" in message:
                raise StudyError(message["failed"])
            if "rounds" in message:
                yield Progress(message["task"], message["rounds"])
                continue
            if waiting:
                worker.assign(*waiting.popleft())
            unfinished -= 1
            yield Finished(message["task"], [base64.b64decode(cell) for cell in message["cells"]])
    finally:
        for worker in crew:
            worker.dismiss()
        until = time.monotonic() + PATIENCE
        for worker in crew:
            processes.wait_or_kill(worker.process, until)
