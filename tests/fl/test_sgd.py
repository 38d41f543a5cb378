"""Learning rates, and settings that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Diminishing,
    Sgd,
)


def test_rates():
    assert Sgd(0.3).rate_at(500) == 0.3
    falling = Sgd(Diminishing(0.8, rounds=10, power=0.5))
    assert [falling.rate_at(number) for number in (0, 30, 150)] == [0.8, 0.4, 0.2]
    assert Diminishing(1.0, rounds=1, power=1).at(9) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "rate must be a finite number > 0, got 0.0"),
        ({"rate": np.nan}, "rate must .* got nan"),
        ({"rate": np.inf}, "rate must .* got inf"),
        ({"rate": "fast"}, "rate must .* got 'fast'"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1, got 0"),
        ({"batch_size": 1.5}, "batch_size must .* got 1.5"),
        ({"weight_decay": -1e-4}, "weight_decay must be a finite number >= 0, got -0.0001"),
        ({"momentum": 1.0}, "momentum must be a number >= 0 and < 1, got 1.0"),
    ],
)
def test_refused_settings(options, message):
    with pytest.raises(ValueError, match=message):
        Sgd(**options)


@pytest.mark.parametrize("name", ["initial", "rounds", "power"])
def test_refused_schedules(name):
    with pytest.raises(ValueError, match=f"{name} must be a finite number > 0, got -1"):
        Diminishing(**{"initial": 0.1, "rounds": 10, name: -1})


def test_misspelt_options_are_named():
    with pytest.raises(TypeError, match="Sgd has no option 'batchsize'; did you mean 'batch_size'"):
        Sgd(batchsize=3)


def test_replacement():
    assert Sgd().replacement is True
    assert Sgd(replacement=False) != Sgd()
    with pytest.raises(ValueError, match="replacement must be"):
        Sgd(replacement="no")
