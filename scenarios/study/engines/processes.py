"""Processes that engines start on this machine: their environment, and their end.

They are plain subprocesses in a session of their own, since Ctrl-C is for the driver, and start in
the folder of this package, so that nothing beside the user passes for a module of otafl.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

# One thread each for BLAS and TensorFlow, whatever the caller's environment: sums are then added in
# one order, and processes do not compete.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}


def start(module: str, *arguments: str) -> subprocess.Popen[str]:
    """Start ``python -m module`` with pipes to its standard input and output."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[3],
        env={**os.environ, **ENVIRONMENT, **_search_path()},
        start_new_session=True,
    )


def _search_path() -> dict[str, str]:
    """Return PYTHONPATH without relative folders, since the process starts elsewhere."""
    given = os.environ.get("PYTHONPATH")
    folders = [os.path.abspath(each) for each in given.split(os.pathsep)] if given else []
    return {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}


def wait_or_kill(process: subprocess.Popen[str], until: float) -> None:
    """Wait for the end of a process, and kill it at the time ``until`` of the monotonic clock."""
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
