"""Worker processes: their environment, their messages, their death."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from scenarios import run_study
from tests.scenarios.study.cells import check_same
from tests.scenarios.study.processes import start, wait_for, workers_of


def test_what_else_a_process_prints_is_no_message(finished, scenario, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('hello')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    check_same(finished, run_study(scenario, tmp_path / "study", progress=False))


def test_one_thread_whatever_the_caller_has(long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder, env={**os.environ, "OPENBLAS_NUM_THREADS": "4"})
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    environment = Path(f"/proc/{workers_of(folder)[0]}/environ").read_bytes().split(b"\0")
    process.kill()
    process.communicate()
    for name in ("OPENBLAS", "OMP", "MKL"):
        assert f"{name}_NUM_THREADS=1".encode() in environment


def test_a_process_that_dies_is_told(long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder)
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    os.kill(workers_of(folder)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert (
        "ended unexpectedly (exit code -9); finished cells are saved, run the study again to resume"
        in said
    )
    assert "Traceback" not in said
