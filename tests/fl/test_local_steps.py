"""How many local steps clients can take."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Cotaf, Epochs, Sgd, UniformSteps
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
        (lambda: run_parabolas(Cotaf(), steps=[1, 2, 3]), "one for each of the 2 devices"),
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


@pytest.mark.parametrize(
    ("epochs", "batch_size", "expected"),
    [
        (1, 64, [94, 1, 2]),  # 6000 / 64 = 93.75
        (0.5, 64, [47, 1, 1]),
        (3, 10, [1800, 3, 30]),
        (0.1, 10, [60, 1, 1]),  # 0.1 * 600 is not 60 in floats
        (1, None, [1, 1, 1]),
        (2.5, None, [3, 3, 3]),
    ],
)
def test_epochs_by_hand(epochs, batch_size, expected):
    sizes = np.array([6000, 10, 100])
    assert Epochs(epochs).steps(sizes, batch_size).tolist() == expected


def test_an_epoch_sees_every_sample_once():
    """Without replacement: 3 samples of client 1 and 2 of client 2, one per step."""
    history = run_parabolas(
        Cotaf(), steps=Epochs(1), samples=(3, 2), sgd=Sgd(0.25, 1, replacement=False)
    )
    assert history["steps"].tolist() == [[3, 2]]


@pytest.mark.parametrize("epochs", [0, -1.0, np.inf])
def test_refused_epochs(epochs):
    with pytest.raises(ValueError, match=f"epochs must be a finite number > 0, got {epochs}"):
        Epochs(epochs)


def test_steps_of_some_of_the_devices(rng):
    """One value per device is looked up by global index; drawn steps are for those present."""
    given = np.arange(1, 8)
    chosen = np.array([1, 6])
    assert max_steps(given, 0, rng, chosen, 7, np.ones(2), 10).tolist() == [2, 7]
    drawn = max_steps(lambda t, m, rng: np.arange(1, m + 1), 0, rng, chosen, 7, np.ones(2), 10)
    assert drawn.tolist() == [1, 2]
    with pytest.raises(ValueError, match="one for each of the 7 devices"):
        max_steps([1, 2], 0, rng, chosen, 7, np.ones(2), 10)
