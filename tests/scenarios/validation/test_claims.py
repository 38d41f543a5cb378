"""Claims hold or not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from scenarios.validation import at_least, at_most, mean_is, share_is, value_is, verify


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
    with pytest.raises(ValueError, match="at least one claim"):
        verify()
