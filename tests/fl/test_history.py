"""What a run leaves behind."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Cotaf, train
from fl.history import METRICS
from links import GaussianLink, IdealLink, OfdmLink
from phy import OfdmGrid, Rayleigh
from tests.fl.runs import OPTIONS, check_same

GRID = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 0))  # 6 carriers: 52 entries in 5 symbols


class Spy(Cotaf):
    """Keeps what every client spent in every symbol."""

    def aggregate(self, *arguments):
        outcome = super().aggregate(*arguments)
        SEEN.append(outcome.reception.energy)
        return outcome


SEEN: list = []


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_load_of_each_symbol(data, shards, budget):
    """Energy over P_i / L, whatever the budget is for."""
    power = [0.5, 1.0, 2.0, 4.0]
    SEEN.clear()
    link = OfdmLink(grid=GRID, fading=Rayleigh(), power=power, budget=budget)
    run = train(Spy(), link, data, shards, rounds=3, **OPTIONS)
    expected = [(5 * energy / np.array(power)[:, None]).max(axis=0) for energy in SEEN]
    np.testing.assert_allclose(run["symbol_load"], expected, rtol=1e-6)
    assert run["symbol_load"].shape == (3, 5)
    if budget == "symbol":
        np.testing.assert_allclose(run["symbol_load"].max(axis=1), run["load"].max(axis=1))
        assert run["symbol_load"].max() <= 1 + 1e-5
    else:
        assert run["symbol_load"].max() > 1


def test_all_metrics_are_listed(data, shards):
    run = train(Cotaf(), GaussianLink(), data, shards, rounds=1, **OPTIONS)
    assert tuple(run.metrics) == METRICS


def test_without_symbols_or_budget(data, shards):
    gaussian = train(Cotaf(), GaussianLink(power=3.0), data, shards, rounds=2, **OPTIONS)
    np.testing.assert_allclose(gaussian["symbol_load"][:, 0], gaussian["load"].max(axis=1))
    ideal = train(Cotaf(), IdealLink(), data, shards, rounds=2, **OPTIONS)
    assert ideal["symbol_load"].tolist() == [[0.0], [0.0]]


def test_a_link_that_changes_over_the_rounds(data, shards, tmp_path):
    """Shorter rows end in NaN, the same after a resume."""

    def uplink(number):
        return GaussianLink() if number % 2 else OfdmLink(grid=GRID, fading=Rayleigh())

    whole = train(Cotaf(), uplink, data, shards, rounds=4, **OPTIONS)
    assert np.isnan(whole["symbol_load"]).sum(axis=1).tolist() == [0, 4, 0, 4]
    file = tmp_path / "run.npz"
    train(Cotaf(), uplink, data, shards, rounds=2, checkpoint=file, **OPTIONS)
    check_same(whole, train(Cotaf(), uplink, data, shards, rounds=4, checkpoint=file, **OPTIONS))
