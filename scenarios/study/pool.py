"""The worker processes of a study, as seen from the process that drives it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scenarios.errors import StudyError

# One thread each for BLAS and TensorFlow, whatever the caller's environment: sums are then added in
# one order, and processes do not compete.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}
PATIENCE = 30.0
"""Time for a worker to save its checkpoint before it is killed [s]."""

Message = dict[str, Any]


class Worker:
    """A worker process.

    Parameters
    ----------
    folder : Path
        The study.
    messages : queue
        Receives pairs of this worker and a message; None when the process has ended.
    """

    def __init__(self, folder: Path, messages: queue.Queue[tuple[Worker, Message | None]]) -> None:
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scenarios.study.worker", str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=root,  # where "scenarios" is this package
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,  # Ctrl-C is for the driving process
        )
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()

    def _listen(self, messages: queue.Queue[tuple[Worker, Message | None]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # other lines come from something that the worker could not silence
            with contextlib.suppress(json.JSONDecodeError):
                messages.put((self, json.loads(line)))
        messages.put((self, None))

    def assign(self, batch: int) -> None:
        """Hand the worker a batch."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # if it has died, its None arrives
            self.process.stdin.write(f"{batch}\n")
            self.process.stdin.flush()

    def dismiss(self) -> None:
        """Tell the worker to save a checkpoint and exit."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def wait(self) -> None:
        """Wait until the process has ended, and kill it if that takes long."""
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_batches(
    folder: Path, batches: Sequence[int], workers: int, on_message: Callable[[Message], None]
) -> None:
    """Run batches of a study.

    Parameters
    ----------
    folder : Path
        The study.
    batches : sequence of int
        Numbers of batches.
    workers : int
        Batches that run at the same time.
    on_message : callable
        Called with each message of a worker.

    Raises
    ------
    StudyError
        If a worker fails or ends early.
    """
    waiting = deque(batches)
    messages: queue.Queue[tuple[Worker, Message | None]] = queue.Queue()
    crew = [Worker(folder, messages) for _ in range(min(workers, len(waiting)))]
    unfinished = len(waiting)
    try:
        for worker in crew:
            worker.assign(waiting.popleft())
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
            on_message(message)
            if message.get("done"):
                unfinished -= 1
                if waiting:
                    worker.assign(waiting.popleft())
    finally:
        for worker in crew:
            worker.dismiss()
        for worker in crew:
            worker.wait()
