"""Progress of a study, as lines."""

from __future__ import annotations

import pytest

from scenarios.study import progress
from scenarios.study.progress import Display


def test_a_line_for_each_finished_batch(scenario, capsys):
    with Display(scenario, [0, 2], shown=True) as display:
        display.show({"batch": 0, "round": 3, "accuracy": [0.5]})
        display.show({"batch": 0, "done": True, "accuracy": [0.25, 0.75]})
        display.show({"batch": 2, "done": True, "accuracy": []})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "4 of 8 cells are done"
    assert lines[1].startswith("6 of 8 cells done, ")
    assert lines[1].endswith(" s left, accuracy 25.0% to 75.0%")
    assert lines[2] == "8 of 8 cells done"


def test_lines_in_between(scenario, capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_INTERVAL", 0.0)
    with Display(scenario, [0, 1, 2, 3], shown=True) as display:
        display.show({"batch": 1, "round": 3, "accuracy": [0.5]})
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("0 of 8 cells done, ")
    assert line.endswith("accuracy 50.0%")


def test_nothing_to_run(scenario, capsys):
    with Display(scenario, [], shown=True):
        pass
    assert capsys.readouterr().err == "all 8 cells are done\n"


def test_nothing_is_shown_if_not_wanted(scenario, capsys):
    with Display(scenario, [0], shown=False) as display:
        display.show({"batch": 0, "done": True, "accuracy": []})
        display.note("a note")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("rounds", "share"), [(3, 0.125), (6, 0.25)])
def test_the_share_that_is_done(scenario, rounds, share):
    """Four batches of two cells and six rounds each."""
    with Display(scenario, [0, 1, 2, 3], shown=False) as display:
        display.show({"batch": 0, "round": rounds, "accuracy": []})
        assert display._share() == pytest.approx(share)
