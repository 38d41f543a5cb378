"""Write files that replace others when they are complete; report failures in one line."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from otafl._base.files import replacing
from scenarios.errors import ScenarioError, StudyError


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path``, or the file it links to, once it is complete.

    Terminals and pipes are written to directly.
    """
    if path.is_dir():
        raise ScenarioError(f"{path} cannot be written: it is a directory")
    with one_line_errors(path):
        target = path.resolve()
        if target.exists() and not target.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with replacing(target) as file:
                yield file


def write_text(path: Path, text: str) -> None:
    """Replace a file by one with this text."""
    with writing(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def one_line_errors(path: Path) -> Iterator[None]:
    """Turn an operating system error into a :class:`StudyError` that names the path."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO)
        raise StudyError(f"{path} cannot be written: {reason}") from error
