"""Engines: each is handed batches and gives back finished cells; the driver alone writes a study.

An engine is a function of tasks that yields events; when its generator is closed, it stops.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, TypeAlias

from scenarios.study.task import Task


class Progress(NamedTuple):
    """A batch has finished a round.

    Attributes
    ----------
    task : int
        Which of the tasks.
    rounds : int
        How many rounds it has finished.
    """

    task: int
    rounds: int


class Finished(NamedTuple):
    """A batch is done.

    Attributes
    ----------
    task : int
        Which of the tasks.
    cells : list of bytes
        The content of the file of each cell.
    state : bytes or None
        Its checkpoint, where the task asks for it and the worker does not share the driver's disk.
    """

    task: int
    cells: list[bytes]
    state: bytes | None = None


Event: TypeAlias = Progress | Finished
Engine: TypeAlias = Callable[[Sequence[Task]], Generator[Event, None, None]]
