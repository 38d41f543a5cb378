"""A progress bar, on terminals and in notebooks only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line(
    description: str, done: int, total: int, shown: bool
) -> Iterator[Callable[[int, str], None]]:
    """Yield a function to call with the number of finished rounds and a note to show beside it."""
    if not shown:
        yield lambda done, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), "{task.fields[note]}", TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress("{task.description}", *columns, console=console, disable=hidden) as bar:
        task = bar.add_task(description, total=total, completed=done, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)
