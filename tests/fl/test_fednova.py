"""FedNova, beyond what test_algorithms checks by hand."""

from __future__ import annotations

import pytest

from fl import FedNova
from tests.fl.problems import run_parabolas


def test_effective_steps_are_weighted_by_the_data():
    """tau_eff = (1 + 3 * 2) / 4 with alpha = 1/4, 3/4; Delta_i / tau_i = 1/4 and 9/8."""
    history = run_parabolas(FedNova(), samples=(1, 3))
    assert history.model[0] == pytest.approx(7 / 4 * (1 / 4 * 1 / 4 + 3 / 4 * 9 / 8), rel=1e-12)


def test_refused():
    with pytest.raises(ValueError, match="tau_eff must be a finite number > 0, got 0"):
        FedNova(tau_eff=0)
