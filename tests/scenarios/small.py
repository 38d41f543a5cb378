"""A scenario small enough to run many times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from fl.data import Dataset
from tests.fl.problems import blobs


def write_data(path: Path) -> Path:
    data: Dataset = blobs(np.random.default_rng(1))
    np.savez(
        path, x_train=data.x_train, y_train=data.y_train, x_test=data.x_test, y_test=data.y_test
    )
    return path


def content(data: Path, rounds: int = 6, **tables):
    """Return a scenario: two algorithms, two rates, two seeds; four batches of two cells."""
    base = {
        "title": "small",
        "data": {"name": str(data), "clients": 4, "labels_per_client": 2},
        "algorithm": {"G": 1.0, "tau_max": 3},
        "link": {"kind": "gaussian", "snr_db": 20.0},
        "training": {"rounds": rounds, "rate": 0.5, "batch_size": 10, "steps": 4},
        "sweep": {"algorithm.name": ["acpc", "cotaf"], "training.rate": [0.3, 0.5], "seed": [0, 1]},
    }
    return {**base, **tables}


def default_interrupts() -> None:
    """In a child process: let signals end it, also where the tests' own process ignores them.

    A shell ignores SIGINT in background jobs, and nohup SIGHUP.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def command(*arguments: object) -> list[str]:
    """Return the command line as a user calls it."""
    return [str(Path(sys.executable).parent / "otafl"), *map(str, arguments)]


def otafl(*arguments: object, cwd: Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "COLUMNS": "200"},
        **options,
    )
