"""A Dask cluster on this machine: ``python -m scenarios.study.engines.dask_cluster``.

Scheduler and workers are plain subprocesses, which need no ``__main__`` guard in the user's script.
They listen on 127.0.0.1 alone, and a certificate made for each cluster keeps other users of the
machine out. Each reads its role from standard input and exits when that ends, so none outlives the
process that started it, however that one ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from scenarios.errors import StudyError
from scenarios.study.engines import processes

HOST = "127.0.0.1"
ALLOWED_FAILURES = 10
"""Number of workers that may die while they run a batch before Dask gives it up."""

START_TIMEOUT = 60.0  # [s]
PATIENCE = 2.0
"""Time for the processes to end before they are killed [s]."""

_SECURITY = (
    "require_encryption",
    "tls_ca_file",
    *(f"tls_{role}_{part}" for role in ("scheduler", "worker") for part in ("cert", "key")),
)
_LOUD = ("distributed", "tornado", "asyncio")


class Process:
    """A scheduler or worker process.

    Parameters
    ----------
    **role
        What it is to be, as JSON holds it; see :func:`main`.
    """

    def __init__(self, **role: Any) -> None:
        self._process = processes.start("scenarios.study.engines.dask_cluster")
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has died: it will not be running
            self._process.stdin.write(json.dumps(role) + "\n")
            self._process.stdin.flush()

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def address(self) -> str:
        """Wait until the process is ready, and return its address; empty if it fails."""
        assert self._process.stdout is not None
        timer = threading.Timer(START_TIMEOUT, self._process.kill)
        timer.start()
        try:
            return self._process.stdout.readline().strip()
        finally:
            timer.cancel()

    def dismiss(self) -> None:
        """Tell the process to exit."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def wait(self, until: float) -> None:
        """Wait until the process has ended, and kill it if that takes long."""
        processes.wait_or_kill(self._process, until)


class Cluster:
    """A running cluster.

    Attributes
    ----------
    address : str
        That of the scheduler.
    security : distributed.Security
        Certificates for it.
    workers : list of Process
    """

    def __init__(self, address: str, security: Any, workers: list[Process]) -> None:
        self.address, self.security, self.workers = address, security, workers

    def check(self) -> None:
        """Raise StudyError if there is nobody left to do the work."""
        if not any(worker.running for worker in self.workers):
            raise StudyError(
                "all worker processes ended unexpectedly; finished cells are saved, run the study "
                "again to resume"
            )


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[Cluster]:
    """Start a cluster on this machine, and stop it afterwards.

    Parameters
    ----------
    workers : int
        Number of processes that run batches, one each.
    """
    from distributed import Security

    security = Security.temporary()
    folder = tempfile.mkdtemp(prefix="otafl-dask-")
    common = {"security": {name: getattr(security, name) for name in _SECURITY}, "folder": folder}
    started: list[Process] = []
    try:
        started.append(Process(scheduler="", **common))
        address = started[0].address()
        if not address:
            raise StudyError("the Dask scheduler on this machine did not start")
        for _ in range(workers):
            started.append(Process(scheduler=address, **common))
        yield Cluster(address, security, started[1:])
    finally:
        for process in started:
            process.dismiss()
        until = time.monotonic() + PATIENCE
        for process in started:
            process.wait(until)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's log messages off standard error: what matters is raised."""
    import distributed  # noqa: F401  (sets the levels of its loggers)

    loggers = [
        logging.getLogger(name)
        for name in [*_LOUD, *logging.root.manager.loggerDict]
        if name.partition(".")[0] in _LOUD
    ]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def main() -> None:
    """Be a scheduler or a worker until standard input ends.

    The first line of input is JSON: the address of the ``scheduler``, empty for the scheduler
    itself; ``security``, the fields of distributed.Security; ``folder``, for files. The first line
    of output is the address of this process.
    """
    line = sys.stdin.readline()
    if not line:
        return  # the parent was stopped right away
    role = json.loads(line)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not reach the parent
    ended = threading.Event()
    threading.Thread(target=_end_with_input, args=(role["folder"], ended), daemon=True).start()
    try:
        with quiet():
            asyncio.run(_serve(role, out))
    except Exception:
        if not ended.wait(1.0):
            raise
    os._exit(0)  # without waiting for a batch


def _end_with_input(folder: str, ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()
    shutil.rmtree(folder, ignore_errors=True)  # the parent may have been killed
    os._exit(0)


async def _serve(role: dict[str, Any], out: Any) -> None:
    import dask.config
    from distributed import Scheduler, Security, Worker

    common: dict[str, Any] = {
        "host": HOST,
        "protocol": "tls",
        "security": Security(**role["security"]),
        "dashboard": False,
        "dashboard_address": f"{HOST}:0",  # where a server without pages listens
    }
    settings = {
        "temporary-directory": role["folder"],
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with dask.config.set(settings):
        server: Any
        if role["scheduler"]:
            server = Worker(
                role["scheduler"],
                nthreads=1,
                memory_limit=0,  # as with the local engine
                death_timeout=START_TIMEOUT,
                **common,
            )
        else:
            server = Scheduler(port=0, allowed_failures=ALLOWED_FAILURES, **common)
        async with server:
            print(server.address, file=out, flush=True)
            await server.finished()


if __name__ == "__main__":
    main()
