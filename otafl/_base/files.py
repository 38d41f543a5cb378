"""Files that are written completely or not at all, and digests of their content."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

PART = ".part"
"""Suffix of a file that is still being written."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces ``path`` once all of it is on disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def data_sha256(path: Path) -> str:
    """Return the SHA-256 of a file that may be large; it is read again only if it has changed."""
    return _sha256(path, path.stat().st_mtime_ns, path.stat().st_size)


@lru_cache
def _sha256(path: Path, changed: int, size: int) -> str:
    return file_sha256(path)
