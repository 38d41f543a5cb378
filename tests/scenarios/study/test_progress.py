"""Progress of a study, as lines."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.study import progress
from scenarios.study.cellfile import CellFile
from scenarios.study.progress import Display
from scenarios.study.task import Task


def cell(*tests, last=10):
    variables = {"test_accuracy": (("round",), np.array(tests))}
    return CellFile({"training": {"final_rounds": last}}, variables, "", {})


def tasks(count, rounds=6):
    return [Task(cells=[{"training": {"rounds": rounds}}] * 2)] * count


def test_a_line_for_each_finished_batch(capsys):
    """The accuracies are those of tables, means of the last rounds, over all cells so far."""
    with Display(shown=True) as display:
        display.begin(tasks(2), [cell(0.9), cell(0.8), cell(0.5), cell(0.6)], 8)
        display.advanced(0, 3)
        display.finished(0, [cell(0.1, 0.3, last=2), cell(0.0, 0.75, last=1)])
        display.finished(1, [cell(), cell(np.nan)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "4 of 8 cells are done"
    assert lines[1].startswith("6 of 8 cells done, ")
    assert lines[1].endswith(" s left, accuracy 20.0% to 90.0%")
    assert " rounds/s, " in lines[1]
    assert lines[2] == "8 of 8 cells done, accuracy 20.0% to 90.0%"


def test_lines_in_between(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_INTERVAL", 0.0)
    with Display(shown=True) as display:
        display.begin(tasks(4), [], 8)
        display.advanced(1, 3)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("0 of 8 cells done, ")


def test_nothing_to_run(capsys):
    with Display(shown=True) as display:
        display.begin([], [cell(0.5)] * 8, 8)
    assert capsys.readouterr().err == "all 8 cells are done\n"


def test_a_part_of_a_study(capsys):
    """A shard with nothing left to do has not finished the study."""
    with Display(shown=True) as display:
        display.begin([], [cell(0.5)] * 2, 8)
    assert capsys.readouterr().err == "2 of 8 cells are done\n"


def test_nothing_is_shown_if_not_wanted(capsys):
    with Display(shown=False) as display:
        display.begin(tasks(1), [], 2)
        display.finished(0, [cell(0.5), cell(0.5)])
        display.note("a note")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("rounds", "share"), [(3, 0.125), (6, 0.25)])
def test_the_share_that_is_done(rounds, share):
    """Four batches of two cells and six rounds each."""
    with Display(shown=False) as display:
        display.begin(tasks(4), [], 8)
        display.advanced(0, rounds)
        assert display.share() == pytest.approx(share)
