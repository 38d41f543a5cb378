"""The process that trains for the page: ``python -m otafl.demo.worker``.

It reads lines of JSON from standard input: ``{"train": scenario}`` or ``{"stop": true}``. It
reports on standard output, as lines of JSON: ``{"round": 3, "accuracies": [...]}`` and, at the end
of a training, ``{"end": null}`` or ``{"end": "what went wrong"}``. When its input ends, it exits,
so it never outlives the server, however that one ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fl.rows import Row
from scenarios.config.scenario import Scenario
from scenarios.study.batch import run_cells

NICENESS = 5  # sliders come first

Report = Callable[..., None]


class StoppedError(Exception):
    """The visitor pressed Stop."""


def main() -> None:
    """Train until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not reach the server
    if hasattr(os, "nice"):
        os.nice(NICENESS)

    def report(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(sys.stdin, tasks, stopping), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):
        while True:
            train(tasks.get(), report, stopping)


def train(content: dict[str, Any], report: Report, stopping: threading.Event) -> None:
    """Train the scenario of a page, all algorithms together.

    Parameters
    ----------
    content : dict
        The tables of the scenario.
    report : callable
        Called with ``round``, counted from 1, and ``accuracies``, the test accuracy of each
        algorithm, None for one that has diverged; and once with ``end``.
    stopping : threading.Event
        When set, the training ends after the current round.
    """

    def on_round(number: int, rows: Sequence[Row | None]) -> None:
        if stopping.is_set():
            raise StoppedError
        accuracies = [None if row is None else float(row["test_accuracy"]) for row in rows]
        report(round=number + 1, accuracies=accuracies)

    problem = None
    try:
        run_cells(Scenario.read(content).cells, None, on_round)
    except StoppedError:
        pass
    except BrokenPipeError:
        raise
    except Exception as error:  # the page shows it, whatever it is
        problem = str(error) or type(error).__name__
    report(end=problem)


def _listen(
    lines: Iterable[str], tasks: queue.Queue[dict[str, Any]], stopping: threading.Event
) -> None:
    for line in lines:
        message = json.loads(line)
        if "train" in message:
            stopping.clear()
            tasks.put(message["train"])
        else:
            stopping.set()
    os._exit(0)  # also in the middle of a training


if __name__ == "__main__":
    main()
