"""Progress of a study: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from scenarios.study.cellfile import CellFile
from scenarios.study.task import Task

LINE_INTERVAL = 30.0  # without a terminal [s]


class Display:
    """Shows how far a study is: what remains, how fast it goes, and the accuracies so far.

    Parameters
    ----------
    shown : bool
        Whether anything is printed.
    """

    def __init__(self, shown: bool) -> None:
        self._sizes: list[int] = []
        self._rounds: list[int] = []
        self._seen: list[int] = []
        self._at_first: dict[int, int] = {}  # a batch may resume from a checkpoint
        self._total = self._done = 0
        self._accuracies: list[float] = []
        self._began = self._line_at = time.monotonic()
        self._console = Console(stderr=True, quiet=not shown, soft_wrap=True)
        self._bar: Progress | None = None

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, tasks: Sequence[Task], finished: Iterable[CellFile], total: int) -> None:
        """Show what there is to do.

        Parameters
        ----------
        tasks : sequence of Task
            The batches to run.
        finished : iterable of CellFile
            The cells that are done already.
        total : int
            Number of cells in all.
        """
        self._sizes = [len(task.cells) for task in tasks]
        self._rounds = [task.rounds for task in tasks]
        self._seen, self._total = [0] * len(tasks), total
        self._count(finished)
        if self._done == total:
            self.note(f"all {total} cells are done")
        elif self._done:
            self.note(f"{self._done} of {total} cells are done")
        self._began = self._line_at = time.monotonic()
        if tasks and self._console.is_terminal:
            columns = (
                TextColumn("{task.fields[cells]}"),
                BarColumn(),
                TextColumn("{task.percentage:.0f} %  {task.fields[pace]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[accuracy]}"),
            )
            self._bar = Progress(*columns, console=self._console)
            self._task = self._bar.add_task("", total=1.0, **self._fields())
            self._bar.start()

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False, markup=False)

    def advanced(self, task: int, rounds: int) -> None:
        """Show that a batch has finished a round."""
        self._at_first.setdefault(task, rounds - 1)
        self._seen[task] = rounds
        self._show(line=time.monotonic() - self._line_at > LINE_INTERVAL)

    def finished(self, task: int, cells: Sequence[CellFile]) -> None:
        """Show that a batch is done."""
        self._seen[task] = self._rounds[task]
        self._count(cells)
        self._show(line=True)

    def _count(self, cells: Iterable[CellFile]) -> None:
        for cell in cells:
            self._done += 1
            accuracy = cell.accuracy()
            self._accuracies += [] if math.isnan(accuracy) else [accuracy]

    def _show(self, line: bool) -> None:
        fields = self._fields()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.share(), **fields)
        elif line:
            self._line_at = time.monotonic()
            parts = [f"{self._done} of {self._total} cells done", fields["pace"]]
            self.note(", ".join(filter(None, [*parts, fields["accuracy"]])))

    def _fields(self) -> dict[str, Any]:
        return {
            "cells": f"{self._done} of {self._total} cells",
            "pace": self._pace(),
            "accuracy": self._accuracy(),
        }

    def share(self) -> float:
        """Return the fraction of the work that is done."""
        return self._work(self._seen) / self._work(self._rounds)

    def _work(self, rounds: Sequence[int]) -> int:
        """Return the rounds of all cells, from the rounds of the batches."""
        return sum(number * size for number, size in zip(rounds, self._sizes, strict=True))

    def _pace(self) -> str:
        """Return the rounds of all cells per second, and the remaining time at that pace."""
        skipped = sum(number * self._sizes[task] for task, number in self._at_first.items())
        seen = self._work(self._seen)
        done, rest = seen - skipped, self._work(self._rounds) - seen
        if not done or not rest:
            return ""
        pace = done / (time.monotonic() - self._began)
        seconds = rest / pace
        left = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
        return f"{pace:.3g} rounds/s, {left} left"

    def _accuracy(self) -> str:
        """Return the accuracies of all cells that are done, as tables show them."""
        if not self._accuracies:
            return ""
        low, high = min(self._accuracies), max(self._accuracies)
        return f"accuracy {low:.1%}" + (f" to {high:.1%}" if high > low else "")
