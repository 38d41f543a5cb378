"""A worker: takes batches, reports, writes cells."""

from __future__ import annotations

import queue
import subprocess
import sys

import pytest

from scenarios.study.folder import Folder
from scenarios.study.worker import work
from tests.scenarios.study.cells import check_same


@pytest.fixture
def study(scenario, tmp_path):
    folder = Folder(tmp_path / "study")
    with folder.locked():
        folder.begin(scenario)
    return folder


def test_it_runs_the_batches_it_is_given(study, scenario):
    batches, reports = queue.Queue(), []
    for batch in (2, 0, None):
        batches.put(batch)
    work(study, batches, lambda **message: reports.append(message))
    done = [report for report in reports if report.get("done")]
    assert [report["batch"] for report in done] == [2, 0]
    assert [len(report["accuracy"]) for report in done] == [2, 2]
    run = {number for batch in (0, 2) for number in scenario.batches[batch]}
    assert set(study.missing()) == set(range(8)) - run
    assert not list(study.path.glob("underway/*"))


def test_it_ends_with_its_input(study, finished):
    command = [sys.executable, "-m", "scenarios.study.worker", str(study.path)]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == ""
    assert study.missing() == list(range(8))


def test_it_reports_what_went_wrong(study):
    (study.path / "scenario.toml").write_text("nonsense")
    command = [sys.executable, "-m", "scenarios.study.worker", str(study.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        line = worker.stdout.readline()
        worker.stdin.close()
    assert line.startswith('{"failed": ')
    assert "is not valid TOML" in line


def test_all_batches_are_the_whole_study(study, finished):
    batches = queue.Queue()
    for batch in (3, 1, 0, 2, None):
        batches.put(batch)
    work(study, batches, lambda **message: None)
    check_same(finished, study.path)
