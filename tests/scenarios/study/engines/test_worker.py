"""A worker process: takes tasks, reports events, ends with its input."""

from __future__ import annotations

import queue
import subprocess
import sys

import pytest

from scenarios.study.cellfile import CellFile
from scenarios.study.engines.worker import work
from scenarios.study.task import Task
from tests.scenarios.study.cells import cell_of

COMMAND = [sys.executable, "-m", "scenarios.study.engines.worker", "study"]


@pytest.fixture
def tasks(scenario):
    return [
        Task(cells=[scenario.cells[number].settings() for number in batch])
        for batch in scenario.batches
    ]


def test_it_runs_the_tasks_it_is_given(tasks, scenario, finished):
    given, reports = queue.Queue(), []
    for each in ((2, tasks[2]), (0, tasks[0]), None):
        given.put(each)
    work(given, lambda **message: reports.append(message))
    done = [report for report in reports if "cells" in report]
    assert [report["task"] for report in done] == [2, 0]
    import base64

    for report in done:
        numbers = scenario.batches[report["task"]]
        for number, text in zip(numbers, report["cells"], strict=True):
            cell = CellFile.from_bytes(base64.b64decode(text), "pipe")
            expected = cell_of(finished, number)
            assert cell.settings == expected.settings
            for name, (_, values) in expected.variables.items():
                assert cell.variables[name][1].tobytes() == values.tobytes()


def test_it_ends_with_its_input():
    done = subprocess.run(
        COMMAND, input="", capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == ""


def test_it_reports_what_went_wrong():
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        worker.stdin.write(f"7 {Task(cells=[{'seed': -1}]).to_json()}\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        worker.stdin.close()
    assert line.startswith('{"task": 7, "failed": ')
    assert "seed must be a whole number" in line
