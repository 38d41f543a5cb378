"""The trainings of all pages: one at a time, in a process of their own, the others in a queue.

The server computes what sliders show in its own process; a training beside it takes another
processor and leaves the sliders as fast as they were.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from otafl.demo.scenario import scenario_of
from otafl.demo.setting import Setting
from scenarios.study.engines import processes

MOST_WAITING = 12
PATIENCE = 5.0  # for the worker to end [s]


class QueueFullError(Exception):
    """So many trainings wait already that another one is refused."""


@dataclass(frozen=True, eq=False)
class Training:
    """A training that a page has asked for.

    The callbacks are called from other threads and must return at once.

    Attributes
    ----------
    setting : Setting
        Settings of the page.
    on_place : callable
        Called with the number of trainings that come first, whenever it changes; 0 when this one
        begins.
    on_round : callable
        Called with the round, counted from 1, and the test accuracy of each algorithm, NaN for one
        that has diverged.
    on_end : callable
        Called once with an error message, or None.
    """

    setting: Setting
    on_place: Callable[[int], None]
    on_round: Callable[[int, list[float]], None]
    on_end: Callable[[str | None], None]


def start_worker() -> subprocess.Popen[str]:
    """Start the process that trains."""
    return processes.start("otafl.demo.worker")


class Trainer:
    """Runs the trainings of all pages of a server, in the order in which they were asked for.

    Parameters
    ----------
    most_waiting : int
        Trainings that may wait for the one that runs.
    start : callable
        Starts a worker process.
    """

    def __init__(
        self,
        most_waiting: int = MOST_WAITING,
        start: Callable[[], subprocess.Popen[str]] = start_worker,
    ) -> None:
        self._most_waiting, self._start = most_waiting, start
        self._changed = Condition()
        self._waiting: deque[Training] = deque()
        self._current: Training | None = None
        self._worker: subprocess.Popen[str] | None = None
        self._closed = False
        self._thread: Thread | None = None

    def submit(self, training: Training) -> None:
        """Put a training into the queue.

        Raises
        ------
        QueueFullError
            If too many are waiting.
        """
        with self._changed:
            if len(self._waiting) >= self._most_waiting:
                raise QueueFullError
            self._waiting.append(training)
            training.on_place(len(self._waiting) - 1 + (self._current is not None))
            if self._thread is None:
                self._thread = Thread(target=self._run, daemon=True)
                self._thread.start()
            self._changed.notify()

    def stop(self, training: Training) -> None:
        """Take a training out of the queue, or end it after its current round."""
        with self._changed:
            if training in self._waiting:
                self._waiting.remove(training)
                self._tell_places()
                training.on_end(None)
            elif training is self._current:
                self._send({"stop": True})

    def close(self) -> None:
        """End the worker and accept no more."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify()
            worker = self._worker
        if worker is not None:
            assert worker.stdin is not None
            worker.stdin.close()  # the worker exits
            processes.wait_or_kill(worker, time.monotonic() + PATIENCE)

    def _run(self) -> None:
        while (training := self._next()) is not None:
            problem = self._train(training)
            with self._changed:
                self._current = None
                self._tell_places()
            training.on_end(problem)

    def _next(self) -> Training | None:
        """Wait for a training; None when closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            self._current = training = self._waiting.popleft()
            training.on_place(0)
            self._tell_places()
            if self._worker is None or self._worker.poll() is not None:
                self._worker = self._start()
            self._send({"train": scenario_of(training.setting)})
            return training

    def _train(self, training: Training) -> str | None:
        """Pass on what the worker reports; return what went wrong, if anything."""
        worker = self._worker
        assert worker is not None
        assert worker.stdout is not None
        for line in worker.stdout:
            message = json.loads(line)
            if "end" in message:
                return message["end"]
            accuracies = [math.nan if each is None else each for each in message["accuracies"]]
            training.on_round(message["round"], accuracies)
        return (
            f"the training process ended unexpectedly with exit code {worker.wait()}; "
            "the next training starts a new one"
        )

    def _tell_places(self) -> None:
        for ahead, training in enumerate(self._waiting, start=self._current is not None):
            training.on_place(ahead)

    def _send(self, message: dict[str, Any]) -> None:
        """Write to the worker; one that has just died is found out by its silence."""
        assert self._worker is not None
        assert self._worker.stdin is not None
        try:
            self._worker.stdin.write(json.dumps(message) + "\n")
            self._worker.stdin.flush()
        except OSError:
            pass
