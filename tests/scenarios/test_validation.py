"""Claims, and the report that holds the toolkit against theory."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from scenarios.cli import main
from scenarios.validation import at_least, at_most, mean_is, report, share_is, value_is, verify
from scenarios.validation.claims import Claim
from scenarios.validation.oracle import Oracle

REPORT = Path(__file__).parents[2] / "docs" / "generated" / "validation.md"
ORACLES = [oracle for oracles in report.CHAPTERS.values() for oracle in oracles]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_every_oracle_holds_for_any_seed(oracle, rng):
    claims = list(oracle.measure(rng))
    verify(*claims)
    for claim in claims:  # and the documentation has them
        assert f"| {claim.what} |" in REPORT.read_text(), "make validation"


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (value_is("", 1.1, 1.0, 0.2), True),
        (value_is("", 1.3, 1.0, 0.2), False),
        (at_most("", 1.0, 1.0), True),
        (at_most("", 1.1, 1.0), False),
        (at_least("", 1.0, 1.0), True),
        (at_least("", 0.9, 1.0), False),
        (value_is("", np.nan, 1.0, 0.2), False),
        (at_most("", np.nan, 1.0), False),
        (at_least("", np.nan, 1.0), False),
        (value_is("", 1.0, 1.0, np.nan), False),
    ],
)
def test_a_claim_holds_or_not(claim, holds):
    assert claim.holds is holds


def test_tolerances_are_five_standard_errors():
    claim = mean_is("", [1.0, 2.0, 3.0, 4.0], 2.0)
    assert claim.measured == 2.5
    assert claim.tolerance == pytest.approx(5 * np.sqrt(5 / 3) / 2)
    claim = share_is("", [True, False, False, False], 0.2)
    assert claim.measured == 0.25
    assert claim.tolerance == pytest.approx(5 * np.sqrt(0.2 * 0.8 / 4))


def test_verify_fails_with_what_is_wrong(capsys):
    with pytest.raises(AssertionError, match="wrong: 2 is not 1 ± 0.1"):
        verify(value_is("right", 1, 1, 0.1), value_is("wrong", 2, 1, 0.1))
    assert re.search(r"right .* holds\nwrong .* FAILS", capsys.readouterr().out)


def test_nothing_to_verify_is_a_mistake():
    with pytest.raises(ValueError, match="nothing to verify"):
        verify()


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
    assert "'-1' is not a whole number" in capsys.readouterr().err
