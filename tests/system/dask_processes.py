"""Dask schedulers, workers and studies in processes of their own, on 127.0.0.1 alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil
from distributed import Client, Security

from tests.scenarios import small

# a user's script without a __main__ guard; errors are shown as the command line shows them
SCRIPT = """
import json
import sys

from scenarios import run_study
from scenarios.errors import ScenarioError, StudyError

scenario, out, options = sys.argv[1:]
try:
    run_study(scenario, out, progress=False, **json.loads(options))
except (ScenarioError, StudyError) as error:
    sys.exit(f"otafl: {error}")
except KeyboardInterrupt:
    sys.exit("otafl: stopped")
"""


def wait_until(condition, seconds=60.0):
    """Wait for a true value, and return it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("nothing happened")


def start_study(file, folder, environment=None, **options):
    """Start a study; by default with a Dask cluster of its own and two workers."""
    options = {"engine": "dask", "workers": 2, **options}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(file), str(folder), json.dumps(options)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
        preexec_fn=small.default_interrupts,  # noqa: PLW1509
    )


def run_study(file, folder, **options):
    """Run a study to its end, which must be good."""
    process = start_study(file, folder, **options)
    code, said = finish(process, 120)
    assert code == 0, said
    assert said == ""
    return folder


def finish(process, seconds):
    """Return the exit code of a process and what it said, and kill it if it takes too long."""
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, said


def cells(folder):
    return {path.name: path.read_bytes() for path in folder.glob("cells/*.nc")}


def family(process):
    """The processes of a study's cluster, the scheduler first.

    Children of its workers, such as a short call of git, do not count.
    """
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(process.pid).children()
        return sorted(children, key=lambda each: (each.create_time(), each.pid))
    return []


def listening(process):
    """The addresses at which a process accepts connections."""
    with contextlib.suppress(psutil.NoSuchProcess):
        found = psutil.Process(process.pid).net_connections("inet")
        return [each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN]
    return []


def known_tasks(client):
    """The number of tasks that a scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def running_tasks(client):
    """The number of threads of all workers that are at work."""
    return sum(client.run(lambda dask_worker: len(dask_worker.active_threads)).values())


class Cluster:
    """A scheduler and workers as users start them, from a directory that has nothing else in it.

    Parameters
    ----------
    folder : Path
        A directory for them.
    files : mapping, optional
        For TLS: ``ca_file``, ``cert`` and ``key``.
    **environment
        Settings of Dask.
    """

    def __init__(self, folder, files=None, **environment):
        self._environment = {**os.environ, **environment}
        self.folder, self.processes = folder / "elsewhere", []
        self.folder.mkdir()
        self._files = files or {}
        options = {"ca_file": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
        self._tls = [part for name in self._files for part in (options[name], self._files[name])]
        self._host = f"{'tls' if files else 'tcp'}://127.0.0.1"
        note = self.folder / "scheduler.json"
        self._start("scheduler", "--scheduler-file", note, "--port", 0, "--host", self._host)
        self.address = wait_until(lambda: self._address(note))

    def _address(self, note):
        assert self.processes[0].poll() is None, (self.folder / "0.log").read_text()
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return json.loads(note.read_text())["address"]
        return None

    def _start(self, kind, *options):
        log = (self.folder / f"{len(self.processes)}.log").open("w")
        common = ["--dashboard-address", "127.0.0.1:0", *self._tls]
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, [*options, *common])],
            cwd=self.folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=self._environment,
        )
        self.processes.append(process)
        return process

    def add_worker(self, *options):
        common = ["--nthreads", 1, "--no-nanny", "--host", "127.0.0.1", "--death-timeout", 60]
        room = ["--local-directory", self.folder]
        return self._start("worker", self.address, *common, *room, *options)

    @contextlib.contextmanager
    def client(self):
        files = {
            "tls_ca_file": self._files.get("ca_file"),
            "tls_client_cert": self._files.get("cert"),
            "tls_client_key": self._files.get("key"),
        }
        security = Security(require_encryption=True, **files) if self._files else None
        with Client(self.address, security=security, set_as_default=False) as client:
            yield client

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in self.processes:
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGKILL)
            process.wait(10)
