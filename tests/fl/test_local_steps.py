"""How many local steps clients can take."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Cotaf, UniformSteps
from fl.local_steps import max_steps
from tests.fl.problems import run_parabolas


def test_uniform_steps_are_uniform(rng):
    drawn = UniformSteps(3, 7)(0, 50_000, rng)
    counts = np.bincount(drawn, minlength=9)
    assert counts[3:8].sum() == 50_000
    assert (np.abs(counts[3:8] - 10_000) < 5 * np.sqrt(10_000 * 0.8)).all()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(4, [4, 4, 4]), ([1, 2, 3], [1, 2, 3]), (lambda t, m, rng: np.full(m, t + 1), [6, 6, 6])],
)
def test_scalar_one_per_client_or_a_function(steps, expected, rng):
    assert max_steps(steps, 5, rng, np.arange(3), 3, np.ones(3), 10).tolist() == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UniformSteps(0, 3), "least must be a whole number >= 1, got 0"),
        (lambda: UniformSteps(3, 2), "most must be at least 3, the value of least, got 2"),
        (lambda: run_parabolas(Cotaf(), steps=0), "steps in round 0 must be .*, got 0"),
        (lambda: run_parabolas(Cotaf(), steps=[1, 2, 3]), "one for each of the 2 clients"),
        (
            lambda: max_steps(
                (1, 50), 0, np.random.default_rng(), np.arange(10), 10, np.ones(10), 5
            ),
            r"got \[1, 50\]; to draw them, give UniformSteps",
        ),
        (lambda: run_parabolas(Cotaf(), steps=1.5), "steps in round 0 must .*, got 1.5"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
