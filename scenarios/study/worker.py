"""A worker process that runs batches of a study: ``python -m scenarios.study.worker FOLDER``.

It reads the numbers of batches from standard input and reports progress as lines of JSON on
standard output. When its input ends, it saves a checkpoint and exits, so it never outlives the
process that started it, however that one ended.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fl.history import Row
from scenarios.study.batch import run_cells
from scenarios.study.folder import Folder

REPORT_INTERVAL = 0.2  # [s]

Report = Callable[..., None]


def main() -> None:
    """Run batches until standard input ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may have ignored it
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not reach the parent

    def report(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    batches: queue.Queue[int | None] = queue.Queue()
    # an interrupt may come at any time; the parent is not listening then
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        try:
            threading.Thread(target=_listen, args=(batches,), daemon=True).start()
            work(Folder(Path(sys.argv[1])), batches, report)
        except BrokenPipeError:
            raise
        except Exception as error:
            report(failed=f"{error}" or repr(error))
    os._exit(0)  # without waiting for the listening thread


def _listen(batches: queue.Queue[int | None]) -> None:
    for line in sys.stdin:
        batches.put(int(line))
    batches.put(None)  # ends the main thread if it waits
    _thread.interrupt_main()  # and if it works


def work(folder: Folder, batches: queue.Queue[int | None], report: Report) -> None:
    """Run batches from a queue until it gives None.

    Parameters
    ----------
    folder : Folder
        The study.
    batches : queue
        Numbers of batches.
    report : callable
        Called with keyword arguments: ``batch`` and ``accuracy``, with ``round`` or ``done``.
    """
    scenario = folder.scenario()
    while (batch := batches.get()) is not None:
        numbers = scenario.batches[batch]
        cells = [scenario.cells[number] for number in numbers]
        reported = 0.0

        def on_round(number: int, rows: Sequence[Row | None], batch: int = batch) -> None:
            nonlocal reported
            if time.monotonic() - reported > REPORT_INTERVAL:
                reported = time.monotonic()
                tests = [float(row["test_accuracy"]) for row in rows if row is not None]
                accuracy = [test for test in tests if not np.isnan(test)]
                report(batch=batch, round=number + 1, accuracy=accuracy)

        checkpoint = folder.checkpoint(batch)
        done = run_cells(cells, checkpoint, on_round)
        for number, cell in zip(numbers, done, strict=True):
            if folder.read_cell(number) is None:
                folder.write_cell(number, cell)
        checkpoint.unlink(missing_ok=True)
        report(batch=batch, done=True, accuracy=[a for cell in done for a in cell.last_accuracy()])


if __name__ == "__main__":
    main()
