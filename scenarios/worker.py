"""A process that runs batches of a study: ``python -m scenarios.worker FOLDER``.

It takes the numbers of batches from its standard input, and tells what it does in lines of JSON on
its standard output. When its input ends, it keeps what it has and goes: so it never outlives the
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
from scenarios.batch import run_cells
from scenarios.folder import Folder

TOLD_EVERY = 0.2  # [s]

Tell = Callable[..., None]


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored before
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever libraries print is not for the other process

    def tell(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    orders: queue.Queue[int | None] = queue.Queue()
    # an interruption may come at any time; nobody is there then who would want to hear of it
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        try:
            threading.Thread(target=_listen, args=(orders,), daemon=True).start()
            work(Folder(Path(sys.argv[1])), orders, tell)
        except BrokenPipeError:
            raise
        except Exception as error:
            tell(failed=f"{error}" or repr(error))
    os._exit(0)  # without waiting for the thread that listens


def _listen(orders: queue.Queue[int | None]) -> None:
    for line in sys.stdin:
        orders.put(int(line))
    orders.put(None)  # to one who waits
    _thread.interrupt_main()  # to one who works


def work(folder: Folder, orders: queue.Queue[int | None], tell: Tell) -> None:
    scenario = folder.scenario()
    while (batch := orders.get()) is not None:
        numbers = scenario.batches[batch]
        cells = [scenario.cells[number] for number in numbers]
        told = 0.0

        def on_round(number: int, rows: Sequence[Row | None], batch: int = batch) -> None:
            nonlocal told
            if time.monotonic() - told > TOLD_EVERY:
                told = time.monotonic()
                tell(batch=batch, round=number + 1, accuracy=_accuracies(rows))

        checkpoint = folder.checkpoint(batch)
        done = run_cells(cells, checkpoint, on_round)
        for number, cell in zip(numbers, done, strict=True):
            if folder.read_cell(number) is None:
                folder.write_cell(number, cell)
        checkpoint.unlink(missing_ok=True)
        tell(batch=batch, done=True, accuracy=[a for cell in done for a in cell.last_accuracy()])


def _accuracies(rows: Sequence[Row | None]) -> list[float]:
    each = [float(row["test_accuracy"]) for row in rows if row is not None]
    return [value for value in each if not np.isnan(value)]


if __name__ == "__main__":
    main()
