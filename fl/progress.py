"""A line that shows how far a run is, on terminals and in notebooks only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line(
    description: str, done: int, total: int, shown: bool
) -> Iterator[Callable[[int, str], None]]:
    """A function to call with the number of rounds done and a note to show beside it."""
    if not shown:
        yield lambda done, note: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total, completed=done, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)
