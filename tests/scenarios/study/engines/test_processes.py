"""Processes on this machine: their environment, and their end."""

from __future__ import annotations

import os
import time

from scenarios.study.engines import processes


def test_a_process_finds_our_packages_and_the_user_s_path(tmp_path, monkeypatch):
    """From a folder with a module named like one of ours, by a relative path."""
    (tmp_path / "links.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine_too.py").write_text(
        "import links, os; print(links.OfdmLink.__name__, os.environ['OMP_NUM_THREADS'])"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "folder")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    process = processes.start("mine_too")
    out, _ = process.communicate(timeout=60)
    assert out.split() == ["OfdmLink", "1"]


def test_one_that_does_not_end_is_killed(tmp_path, monkeypatch):
    (tmp_path / "sleeps.py").write_text("import time; print('up', flush=True); time.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = processes.start("sleeps")
    assert process.stdout.readline() == "up\n"
    processes.wait_or_kill(process, time.monotonic() + 0.1)
    assert process.returncode == -9
    assert os.environ["PYTHONPATH"] == str(tmp_path)
