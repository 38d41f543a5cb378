"""FedNova, beyond what test_algorithms checks by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fl import FedNova, RandomClients
from tests.fl.problems import run_parabolas


def test_effective_steps_are_weighted_by_the_data():
    """tau_eff = (1 + 3 * 2) / 4 with alpha = 1/4, 3/4; Delta_i / tau_i = 1/4 and 9/8."""
    history = run_parabolas(FedNova(), samples=(1, 3))
    assert history.model[0] == pytest.approx(7 / 4 * (1 / 4 * 1 / 4 + 3 / 4 * 9 / 8), rel=1e-12)


def test_effective_steps_are_a_mean_where_some_take_part():
    """One of two with alpha = 9/10, 1/10 has weight 2 alpha_i; its update counts 2 alpha_i Delta_i.

    Delta = 7/16 after 2 steps and 3/2 after one. On average x_1 = 9/10 7/16 + 1/10 3/2.
    """
    seen = {}
    for seed in range(20):
        one = RandomClients(1)
        history = run_parabolas(
            FedNova(), steps=(2, 1), samples=(9, 1), participation=one, seed=seed
        )
        seen.setdefault(int(history["device"][0, 0]), []).append(history.model[0])
    np.testing.assert_allclose(seen[0], 9 / 5 * 7 / 16, rtol=1e-12)
    np.testing.assert_allclose(seen[1], 1 / 5 * 3 / 2, rtol=1e-12)


def test_refused():
    with pytest.raises(ValueError, match="tau_eff must be a finite number > 0, got 0"):
        FedNova(tau_eff=0)
