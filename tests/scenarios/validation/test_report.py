"""The validation report, printed and written."""

from __future__ import annotations

import re

import pytest

from otafl.cli import main
from scenarios.validation import report, value_is
from scenarios.validation.claims import Claim
from scenarios.validation.oracle import Oracle


@pytest.fixture
def two_oracles(monkeypatch):
    """Stand-ins for measurements of a minute."""

    def good(rng):
        return [value_is("a coin", rng.integers(2), 0.5, 0.6)]

    def bad(rng):
        return [Claim("a | b", 2.0, 1.0, 0.1)]

    def use(*chosen):
        laws = {"good": good, "bad": bad}
        oracles = [Oracle(name, rf"\{name}", laws[name]) for name in chosen]
        monkeypatch.setattr(report, "CHAPTERS", {"Some": oracles})

    return use


def test_the_command_prints_and_writes_the_report(two_oracles, tmp_path, capsys):
    two_oracles("good")
    path = tmp_path / "report.md"
    assert main(["validate", "--seed", "3", "--markdown", str(path)]) == 0
    assert "1 of 1 claims hold" in capsys.readouterr().out
    assert "## Some" in path.read_text()
    assert re.search(r"\| a coin \| [01] \| 0\.5 ± 0\.6 \| holds \|", path.read_text())


def test_the_command_fails_where_a_claim_does(two_oracles, tmp_path, capsys):
    two_oracles("good", "bad")
    path = tmp_path / "report.md"
    assert main(["validate", "--markdown", str(path)]) == 1
    printed = capsys.readouterr()
    assert "FAILS" in printed.out
    assert "1 of 2 claims hold" in printed.err
    assert r"| a \| b | 2 | 1 ± 0.1 | **fails** |" in path.read_text()


def test_seeds_are_numbers(capsys):
    with pytest.raises(SystemExit):
        main(["validate", "--seed", "-1"])
    assert "must be a whole number from 0 to 4294967295, got '-1'" in capsys.readouterr().err
