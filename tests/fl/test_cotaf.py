"""COTAF, beyond what test_algorithms checks by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Cotaf,
)
from links import GaussianLink
from tests.fl.problems import run_parabolas

QUIET = {"snr_db": np.inf}


def test_cotaf_gain_is_that_of_the_paper(rng):
    """p_t = P / max ||Delta_i||^2, and the server divides by m sqrt(p_t)."""
    history = run_parabolas(Cotaf(), GaussianLink(**QUIET, power=1.0))
    assert history["gain"][0] == pytest.approx(2 * np.sqrt(1 / 2.25**2), rel=1e-5)


def test_refused():
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got -1"):
        Cotaf(server_step=-1)
