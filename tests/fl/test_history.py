"""The record of a run."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Cotaf, History, train
from fl.metrics import METRICS
from links import GaussianLink, IdealLink, OfdmLink
from phy import OfdmGrid, Rayleigh
from tests.fl.runs import OPTIONS, check_same

GRID = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 0))  # 6 carriers: 52 entries in 5 symbols


class Spy(Cotaf):
    """Records the energy of every client in every symbol."""

    def aggregate(self, *arguments):
        outcome = super().aggregate(*arguments)
        SEEN.append(outcome.reception.energy)
        return outcome


SEEN: list = []


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_load_of_each_symbol(problem, budget):
    """Energy over P_i / L, for either kind of budget."""
    power = [0.5, 1.0, 2.0, 4.0]
    SEEN.clear()
    link = OfdmLink(grid=GRID, fading=Rayleigh(), power=power, budget=budget)
    run = train(Spy(), link, problem, rounds=3, **OPTIONS)
    expected = [(5 * energy / np.array(power)[:, None]).max(axis=0) for energy in SEEN]
    np.testing.assert_allclose(run["symbol_load"], expected, rtol=1e-6)
    assert run["symbol_load"].shape == (3, 5)
    if budget == "symbol":
        np.testing.assert_allclose(run["symbol_load"].max(axis=1), run["load"].max(axis=1))
        assert run["symbol_load"].max() <= 1 + 1e-5
    else:
        assert run["symbol_load"].max() > 1


def test_all_metrics_are_listed(problem):
    run = train(Cotaf(), GaussianLink(), problem, rounds=1, **OPTIONS)
    assert tuple(run.metrics) == tuple(METRICS)


def test_without_symbols_or_budget(problem):
    gaussian = train(Cotaf(), GaussianLink(power=3.0), problem, rounds=2, **OPTIONS)
    np.testing.assert_allclose(gaussian["symbol_load"][:, 0], gaussian["load"].max(axis=1))
    ideal = train(Cotaf(), IdealLink(), problem, rounds=2, **OPTIONS)
    assert ideal["symbol_load"].tolist() == [[0.0], [0.0]]


def test_a_link_that_changes_over_the_rounds(problem, tmp_path):
    """Shorter rows are padded with NaN, also after a resume."""

    def uplink(number):
        return GaussianLink() if number % 2 else OfdmLink(grid=GRID, fading=Rayleigh())

    whole = train(Cotaf(), uplink, problem, rounds=4, **OPTIONS)
    assert np.isnan(whole["symbol_load"]).sum(axis=1).tolist() == [0, 4, 0, 4]
    file = tmp_path / "run.npz"
    train(Cotaf(), uplink, problem, rounds=2, checkpoint=file, **OPTIONS)
    check_same(whole, train(Cotaf(), uplink, problem, rounds=4, checkpoint=file, **OPTIONS))


def test_help_explains_every_metric():
    """The list in the docstring is that of the table."""
    for name, metric in METRICS.items():
        assert f"{name} : [{', '.join(metric.dims)}]" in History.__doc__
        assert metric.meaning in History.__doc__


def test_an_unknown_metric_is_named(problem):
    run = train(Cotaf(), IdealLink(), problem, rounds=1, **OPTIONS)
    with pytest.raises(KeyError, match="did you mean 'test_accuracy'"):
        run["test_acuracy"]
    with pytest.raises(ValueError, match="rounds must be a whole number >= 1, got 0"):
        run.final_accuracy(0)
