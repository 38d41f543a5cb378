"""Progress of a study: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from scenarios.config.scenario import Scenario

LINE_INTERVAL = 30.0  # without a terminal [s]


class Display:
    """Shows the progress that the workers report.

    Parameters
    ----------
    scenario : Scenario
    batches : sequence of int
        Numbers of the batches to run.
    shown : bool
        Whether anything is printed.
    """

    def __init__(self, scenario: Scenario, batches: Sequence[int], shown: bool) -> None:
        firsts = {batch: scenario.cells[scenario.batches[batch][0]] for batch in batches}
        self._rounds = {batch: first.training.rounds for batch, first in firsts.items()}
        self._seen = dict.fromkeys(batches, 0)
        self._at_first: dict[int, int] = {}  # a batch may resume from a checkpoint
        self._sizes = {batch: len(scenario.batches[batch]) for batch in batches}
        self._cells = len(scenario.cells)
        self._cells_done = self._cells - sum(self._sizes.values())
        self._began = self._line_at = time.monotonic()
        self._accuracy: dict[int, str] = {}
        self._console = Console(stderr=True, quiet=not shown, soft_wrap=True)
        self._bar: Progress | None = None

    def __enter__(self) -> Display:
        if not self._seen:
            self.note(f"all {self._cells} cells are done")
        elif self._cells_done:
            self.note(f"{self._cells_done} of {self._cells} cells are done")
        if self._seen and self._console.is_terminal:
            columns = (
                TextColumn("{task.fields[cells]}"),
                BarColumn(),
                TextColumn("{task.percentage:.0f} %  {task.fields[left]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[accuracy]}"),
            )
            self._bar = Progress(*columns, console=self._console)
            self._task = self._bar.add_task("", total=1.0, **self._fields())
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False, markup=False)

    def show(self, message: dict[str, Any]) -> None:
        """Show a message of a worker."""
        batch = message["batch"]
        if message["accuracy"]:
            self._accuracy[batch] = _range(message["accuracy"])
        if message.get("done"):
            self._seen[batch] = self._rounds[batch]
            self._cells_done += self._sizes[batch]
        else:
            self._at_first.setdefault(batch, message["round"] - 1)
            self._seen[batch] = message["round"]
        if self._bar is not None:
            self._bar.update(self._task, completed=self._share(), **self._fields())
        elif message.get("done") or time.monotonic() - self._line_at > LINE_INTERVAL:
            self._line_at = time.monotonic()
            left, accuracy = self._left(), self._accuracy.get(batch, "")
            parts = [f"{self._cells_done} of {self._cells} cells done", left, accuracy]
            self.note(", ".join(filter(None, parts)))
        if message.get("done"):
            self._accuracy.pop(batch, None)

    def _fields(self) -> dict[str, Any]:
        return {
            "cells": f"{self._cells_done} of {self._cells} cells",
            "left": self._left(),
            "accuracy": "  ".join(self._accuracy.values()),
        }

    def _share(self) -> float:
        """Return the fraction of the work that is done."""
        return self._work(self._seen) / self._work(self._rounds)

    def _work(self, rounds: Mapping[int, int]) -> int:
        """Return the rounds of all cells, from the rounds of the batches."""
        return sum(number * self._sizes[batch] for batch, number in rounds.items())

    def _left(self) -> str:
        """Return the remaining time, estimated from the pace so far."""
        seen = self._work(self._seen)
        done, rest = seen - self._work(self._at_first), self._work(self._rounds) - seen
        if not done or not rest:
            return ""
        seconds = (time.monotonic() - self._began) * rest / done
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


def _range(accuracies: Sequence[float]) -> str:
    low, high = min(accuracies), max(accuracies)
    return f"accuracy {low:.1%}" + (f" to {high:.1%}" if len(accuracies) > 1 else "")
