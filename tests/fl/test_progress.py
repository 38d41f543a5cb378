"""The progress bar."""

from __future__ import annotations

from fl import (
    Cotaf,
    train,
)
from links import IdealLink
from tests.fl.runs import OPTIONS


def test_progress_only_on_terminals(problem, capsys):
    train(Cotaf(), IdealLink(), problem, rounds=2, **OPTIONS)
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""
