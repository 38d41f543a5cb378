"""The processes that run a study, as seen from the one that steers it."""

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

from scenarios.library import StudyError

# One thread for BLAS and TensorFlow, whoever calls: sums are then added up in one order, and
# processes do not get in each other's way.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}
PATIENCE = 30.0
"""For a process to keep what it has, before it is ended [s]."""

Message = dict[str, Any]


class Worker:
    """One process; what it tells goes into a queue, with None at the end."""

    def __init__(self, folder: Path, heard: queue.Queue[tuple[Worker, Message | None]]) -> None:
        root = Path(__file__).parent.parent
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scenarios.worker", str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=root,  # where "scenarios" is this package, whatever else has that name
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,  # Ctrl-C is for the process that steers
        )
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    def _listen(self, heard: queue.Queue[tuple[Worker, Message | None]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # what is no message is said by something that the worker could not silence
            with contextlib.suppress(json.JSONDecodeError):
                heard.put((self, json.loads(line)))
        heard.put((self, None))

    def give(self, batch: int) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # if it has died, that is heard
            self.process.stdin.write(f"{batch}\n")
            self.process.stdin.flush()

    def dismiss(self) -> None:
        """Nothing more to do: what it has begun is kept for another time."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def wait(self) -> None:
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_batches(
    folder: Path, batches: Sequence[int], workers: int, on_message: Callable[[Message], None]
) -> None:
    """Run these batches of the study, so many at a time."""
    waiting = deque(batches)
    heard: queue.Queue[tuple[Worker, Message | None]] = queue.Queue()
    crew = [Worker(folder, heard) for _ in range(min(workers, len(waiting)))]
    unfinished = len(waiting)
    try:
        for worker in crew:
            worker.give(waiting.popleft())
        while unfinished:
            worker, message = heard.get()
            if message is None:
                code = worker.process.wait()
                raise StudyError(
                    f"a process of the study ended before its time (exit code {code}): run it "
                    "again to go on"
                )
            if "failed" in message:
                raise StudyError(message["failed"])
            on_message(message)
            if message.get("done"):
                unfinished -= 1
                if waiting:
                    worker.give(waiting.popleft())
    finally:
        for worker in crew:
            worker.dismiss()
        for worker in crew:
            worker.wait()
