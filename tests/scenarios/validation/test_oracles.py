"""Cross-cutting: every oracle of the validation report holds for any seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.validation import report, verify

REPORT = Path(__file__).parents[3] / "docs" / "generated" / "validation.md"

ORACLES = [oracle for oracles in report.CHAPTERS.values() for oracle in oracles]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_every_oracle_holds_for_any_seed(oracle, rng):
    claims = list(oracle.measure(rng))
    verify(*claims)
    for claim in claims:  # and the documentation has them
        assert f"| {claim.what} |" in REPORT.read_text(), "make validation"
