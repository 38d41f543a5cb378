"""A worker process on this machine: ``python -m scenarios.study.engines.worker STUDY``.

It reads tasks as lines of JSON from standard input and reports events as lines of JSON on standard
output. When its input ends, it saves a checkpoint and exits, so it never outlives the process that
started it, however that one ended.
"""

from __future__ import annotations

import _thread
import base64
import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from scenarios.errors import explain
from scenarios.study.task import Task, run_task

REPORT_INTERVAL = 0.2  # [s]

Report = Callable[..., None]


def main() -> None:
    """Run tasks until standard input ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may have ignored it
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not reach the parent

    def report(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    tasks: queue.Queue[tuple[int, Task] | None] = queue.Queue()
    # an interrupt may come at any time; the parent is not listening then
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
        work(tasks, report)
    os._exit(0)  # without waiting for the listening thread


def _listen(tasks: queue.Queue[tuple[int, Task] | None]) -> None:
    for line in sys.stdin:
        number, _, text = line.partition(" ")
        tasks.put((int(number), Task.from_json(text)))
    tasks.put(None)  # ends the main thread if it waits
    _thread.interrupt_main()  # and if it works


def work(tasks: queue.Queue[tuple[int, Task] | None], report: Report) -> None:
    """Run tasks from a queue until it gives None.

    Parameters
    ----------
    tasks : queue
        Numbered tasks.
    report : callable
        Called with keyword arguments: ``task`` with ``rounds``, ``cells`` or ``failed``.
    """
    while (given := tasks.get()) is not None:
        number, task = given
        reported = 0.0

        def on_round(rounds: int, rows: Any, number: int = number) -> None:
            nonlocal reported
            if time.monotonic() - reported > REPORT_INTERVAL:
                reported = time.monotonic()
                report(task=number, rounds=rounds + 1)

        try:
            cells = run_task(task, on_round)
        except BrokenPipeError:
            raise
        except Exception as error:
            report(task=number, failed=explain(error, task.code))
        else:
            report(task=number, cells=[base64.b64encode(cell).decode() for cell in cells])


if __name__ == "__main__":
    main()
