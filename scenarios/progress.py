"""How far a study is: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from scenarios.scenario import Scenario

LINE_EVERY = 30.0  # without a terminal [s]


class Display:
    """Shows what the processes of a study tell; ``batches`` are those that are to be run."""

    def __init__(self, scenario: Scenario, batches: Sequence[int], shown: bool) -> None:
        self._scenario = scenario
        self._rounds = {
            batch: scenario.cells[scenario.batches[batch][0]].training.rounds for batch in batches
        }
        self._seen = dict.fromkeys(batches, 0)
        self._at_first: dict[int, int] = {}  # a batch may go on from where it was
        self._cells = len(scenario.cells)
        self._cells_done = self._cells - sum(len(scenario.batches[batch]) for batch in batches)
        self._began = self._line_at = time.monotonic()
        self._accuracy: dict[int, str] = {}
        self._console = Console(stderr=True, quiet=not shown, soft_wrap=True)
        self._bar: Progress | None = None

    def __enter__(self) -> Display:
        done = f"{self._cells_done} of {self._cells} cells are done"
        if not self._seen:
            self._console.print(f"all {self._cells} cells are done", highlight=False)
        elif self._cells_done:
            self._console.print(done, highlight=False)
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

    def show(self, message: dict[str, Any]) -> None:
        batch = message["batch"]
        if message["accuracy"]:
            self._accuracy[batch] = _range(message["accuracy"])
        if message.get("done"):
            self._seen[batch] = self._rounds[batch]
            self._cells_done += len(self._scenario.batches[batch])
        else:
            self._at_first.setdefault(batch, message["round"] - 1)
            self._seen[batch] = message["round"]
        if self._bar is not None:
            self._bar.update(self._task, completed=self._share(), **self._fields())
        elif message.get("done") or time.monotonic() - self._line_at > LINE_EVERY:
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
        """Of the work of this run that is done."""
        work = {b: n * len(self._scenario.batches[b]) for b, n in self._rounds.items()}
        done = sum(self._seen[b] / self._rounds[b] * work[b] for b in work)
        return done / sum(work.values())

    def _left(self) -> str:
        """Time that the rest will take, at the pace so far."""
        cells = self._scenario.batches
        work = {b: len(cells[b]) for b in self._rounds}
        begun = {b: self._at_first.get(b, 0) for b in self._rounds}
        done = sum((self._seen[b] - begun[b]) * work[b] for b in work if self._seen[b])
        rest = sum((self._rounds[b] - self._seen[b]) * work[b] for b in work)
        if not done or not rest:
            return ""
        seconds = (time.monotonic() - self._began) * rest / done
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


def _range(accuracies: Sequence[float]) -> str:
    low, high = min(accuracies), max(accuracies)
    return f"accuracy {low:.1%}" + (f" to {high:.1%}" if len(accuracies) > 1 else "")
