"""The second engine: Dask, on this machine or on a cluster.

Batches travel with all that they need (:mod:`scenarios.study.engines.dask_worker`), and results
come back through the scheduler, so the workers share no disk with the driver. Dask runs the batches
of a worker that died on another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from otafl._base.validation import OptionError, choice
from scenarios.errors import ScenarioError, StudyError, explain
from scenarios.study.engines import Engine, Event, Finished, Progress
from scenarios.study.engines.dask_cluster import local_cluster, quiet
from scenarios.study.engines.dask_worker import TOPIC, Answer, Job, TaskFiles, run_job
from scenarios.study.task import Task

CONNECT_TIMEOUT = 10.0  # [s]
CHECK_INTERVAL = 0.5
"""Time between looks at whether the scheduler is still there [s]."""

RESULT_TIMEOUT = 30.0  # [s]
CLOSE_TIMEOUT = 2.0  # [s]
FILES = ("ca_file", "cert", "key")
RESUME = "finished cells are saved, run the study again to resume"

_ADDRESS = re.compile(r"(?P<protocol>tcp|tls)://[^/\s]+:\d+")


def dask_engine(workers: int, scheduler: str | None, security: Mapping[str, str] | None) -> Engine:
    """Return an engine that runs batches with Dask.

    Parameters
    ----------
    workers : int
        Number of processes of a cluster on this machine.
    scheduler : str or None
        Address of a running scheduler, ``tcp://...`` or ``tls://...``; None starts a cluster on
        this machine.
    security : mapping of str to str or None
        Files for a ``tls://`` scheduler: ``ca_file``, ``cert`` and ``key``.

    Raises
    ------
    OptionError
        If an option is not valid.
    ScenarioError
        If Dask is not installed.
    """
    files = _checked(scheduler, security)
    try:
        import cryptography  # noqa: F401  (distributed uses it for a cluster on this machine)
        import distributed  # noqa: F401
    except ImportError:
        raise ScenarioError(
            "the Dask engine needs distributed: pip install 'otafl[dask]'"
        ) from None
    return partial(_run, workers=workers, scheduler=scheduler, files=files)


def _checked(scheduler: str | None, security: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the files for TLS; refuse an address and files that do not go together."""
    if scheduler is None:
        if security is not None:
            raise OptionError("security", "left out without a scheduler", dict(security))
        return {}
    found = _ADDRESS.fullmatch(scheduler) if isinstance(scheduler, str) else None
    if found is None:
        raise OptionError("scheduler", "tcp://HOST:PORT or tls://HOST:PORT", scheduler)
    if found["protocol"] == "tcp":
        if security is not None:
            must = "left out with a tcp:// scheduler, which has no encryption"
            raise OptionError("security", must, dict(security))
        return {}
    names = ", ".join(FILES)
    if not isinstance(security, Mapping) or not set(FILES) <= set(security):
        raise OptionError("security", f"files for a tls:// scheduler: {names}", security)
    for name, path in security.items():
        choice("security", name, FILES)
        if not isinstance(path, str | Path) or not Path(path).is_file():
            raise OptionError(f"security.{name}", "an existing file", path)
    return {name: str(path) for name, path in security.items()}


def _run(
    tasks: Sequence[Task], workers: int, scheduler: str | None, files: Mapping[str, str]
) -> Generator[Event, None, None]:
    """Run tasks on a cluster of our own or on a running one."""
    if not tasks:
        return
    with quiet(), contextlib.ExitStack() as stack:
        security, check = None, _nothing
        if scheduler is None:
            cluster = stack.enter_context(local_cluster(min(workers, len(tasks))))
            scheduler, security, check = cluster.address, cluster.security, cluster.check
        elif files:
            security = _security(files)
        client = stack.enter_context(_connected(scheduler, security))
        yield from _Session(client, scheduler, check).events(tasks)


def _nothing() -> None:
    """Check nothing: the workers are not ours."""


def _security(files: Mapping[str, str]) -> Any:
    from distributed import Security

    return Security(
        tls_ca_file=files["ca_file"],
        tls_client_cert=files["cert"],
        tls_client_key=files["key"],
        require_encryption=True,
    )


@contextlib.contextmanager
def _connected(address: str, security: Any) -> Iterator[Any]:
    """Connect to a scheduler; on the way out it forgets all that was asked of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells keep the versions that made them
        client = _client(address, {} if security is None else {"security": security})
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            client.close(timeout=CLOSE_TIMEOUT)


def _client(address: str, options: Mapping[str, Any]) -> Any:
    """Return a client, made in a thread: one interrupted half-made would hold up the exit."""
    from distributed import Client

    made: queue.SimpleQueue[Any] = queue.SimpleQueue()
    abandoned = threading.Event()

    def connect() -> None:
        try:
            client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False, **options)
        except Exception as error:  # whatever answers at that address
            made.put(error)
            return
        made.put(client)
        if abandoned.is_set():
            client.close()

    threading.Thread(target=connect, daemon=True).start()
    try:
        client = made.get()
    except BaseException:
        abandoned.set()
        raise
    if isinstance(client, Exception):
        said = explain(client, ())
        raise StudyError(f"the Dask scheduler {address} cannot be reached: {said}") from client
    return client


class _Session:
    """One study on a scheduler.

    Parameters
    ----------
    client : distributed.Client
    address : str
        The scheduler, for messages.
    check : callable
        Raises StudyError if the cluster can do no more work.
    """

    def __init__(self, client: Any, address: str, check: Callable[[], None]) -> None:
        self._client, self._address, self._check_cluster = client, address, check
        self._name = uuid.uuid4().hex
        self._news: queue.Queue[Progress | int] = queue.Queue()

    def events(self, tasks: Sequence[Task]) -> Generator[Event, None, None]:
        """Run tasks and yield what happens."""
        self._client.subscribe_topic(TOPIC, self._on_message)
        files_of_tasks = self._sent(_task_files(tasks))
        waiting = {}
        for number, task in enumerate(tasks):
            job = _job(number, task, self._name)
            waiting[number] = self._submit(
                run_job, job, files_of_tasks, key=f"otafl-{self._name}-{number}"
            )
            waiting[number].add_done_callback(lambda _, number=number: self._news.put(number))
        while waiting:
            try:
                news = self._news.get(timeout=CHECK_INTERVAL)
            except queue.Empty:
                self._check()
                continue
            if isinstance(news, Progress):
                yield news
                continue
            answer = self._answer(waiting.pop(news))
            yield Finished(news, answer.cells, answer.state)

    def _submit(self, function: Callable, *arguments: Any, key: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask finds a dataset large
            return self._client.submit(function, *arguments, key=key, pure=False)

    def _sent(self, files_of_tasks: TaskFiles) -> Any:
        """Return a future of the files, once every worker has them.

        It is the result of a task, which Dask repeats where it is lost.
        """
        if not files_of_tasks.sources and not files_of_tasks.data:
            return files_of_tasks
        future = self._submit(_unchanged, files_of_tasks, key=f"otafl-files-{self._name}")
        while not future.done():
            time.sleep(0.02)
            self._check()
        with contextlib.suppress(Exception):  # workers can still fetch it later
            self._client.replicate([future])
        return future

    def _on_message(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, message = event
        if message["session"] == self._name:
            self._news.put(Progress(message["task"], message["rounds"]))

    def _check(self) -> None:
        """Raise StudyError if the scheduler or all workers are gone."""
        if self._client.status != "running":
            raise self._lost()
        self._check_cluster()

    def _lost(self) -> StudyError:
        return StudyError(f"lost the connection to the Dask scheduler {self._address}; {RESUME}")

    def _answer(self, future: Any) -> Answer:
        """Return what a batch came to."""
        from distributed import KilledWorker

        try:
            answer = self._result(future)
        except KilledWorker:
            raise StudyError(
                f"Dask gave up a batch, since several workers died while they ran it; {RESUME}"
            ) from None
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, StudyError):
                raise
            if future.status != "error":
                raise self._lost() from error
            said = explain(error, ())
            raise StudyError(f"a Dask worker could not run a batch: {said}; {RESUME}") from error
        if answer.failed:
            raise StudyError(answer.failed)
        return answer

    def _result(self, future: Any) -> Answer:
        """Fetch a result; if the worker that had it has died, the batch is run again first."""
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                return future.result(timeout=RESULT_TIMEOUT)
            self._check()


def _unchanged(files_of_tasks: TaskFiles) -> TaskFiles:
    """Return the files unchanged, so that they become the result of a task."""
    return files_of_tasks


def _task_files(tasks: Sequence[Task]) -> TaskFiles:
    """Return the files that tasks need, from this machine's disk."""
    sources = {name: path for task in tasks for name, path in task.files.items()}
    data = {sha256: path for task in tasks for sha256, path in task.data.items()}
    return TaskFiles(
        {name: Path(path).read_bytes() for name, path in sources.items()},
        {sha256: _content(Path(path)) for sha256, path in data.items()},
    )


def _content(path: Path) -> tuple[str, dict[str, bytes]]:
    if path.is_file():
        return path.name, {path.name: path.read_bytes()}
    return "", {each.name: each.read_bytes() for each in path.iterdir() if each.is_file()}


def _job(number: int, task: Task, session: str) -> Job:
    """Return a task without paths on this machine's disk, and with its state."""
    checkpoint = Path(task.checkpoint) if task.checkpoint else None
    state = checkpoint.read_bytes() if checkpoint is not None and checkpoint.is_file() else None
    own = replace(task, files={}, data={}, checkpoint="")
    return Job(number, own.to_json(), session, state)
