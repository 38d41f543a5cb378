"""One round: how links are opened, what is measured, and runs that diverge."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Algorithm,
    Cotaf,
    DivergenceWarning,
    FedAvg,
    Outcome,
    Reception,
    Sgd,
    UniformSteps,
    quadratic_problem,
    train,
    train_together,
)
from fl.quadratic import default_quadratic
from links import GaussianLink, IdealLink, OfdmLink
from tests.fl.problems import two_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS


def test_measured_gradient_is_that_of_the_objective():
    """||sum_i alpha_i (H_i x - e_i) + lambda x||^2, at the beginning of the round."""
    problem = two_parabolas()
    history = train(
        FedAvg(),
        IdealLink(),
        problem,
        rounds=2,
        steps=1,
        sgd=Sgd(0.25, None, weight_decay=0.5),
        measure_gradient=True,
    )
    x1 = 0.25 * 3.5
    expected = [3.5**2, (1.5 * x1 - 3.5 + 0.5 * x1) ** 2]
    np.testing.assert_allclose(history["squared_gradient_norm"], expected)


class Recorder:
    """A link that records how it is opened."""

    def __init__(self):
        self.opened = []

    def open(self, num_clients, length, rng, **options):
        states = [repr(each.bit_generator.state) for each in (rng, options["device_rng"])]
        self.opened.append((options["time"], *states))
        return IdealLink().open(num_clients, length, rng, **options)


def test_links_are_opened_with_time_and_devices(problem):
    """Each round has its own stream; the stream of the devices is the same in all rounds."""
    link = Recorder()
    options = {**OPTIONS, "steps": UniformSteps(1, 99), "round_period": 0.5}
    history = train(Cotaf(), link, problem, rounds=4, **options)
    times, rounds, devices = zip(*link.opened, strict=True)
    assert times == (0.0, 0.5, 1.0, 1.5)
    assert len(set(rounds)) == 4
    assert len(set(devices)) == 1
    assert devices[0] not in rounds
    assert len({tuple(row) for row in history["steps"]}) == 4


def test_train_loss_is_weighted():
    """1/4 F_1 + 3/4 F_2 at zero, F_1 = 1/2 and F_2 = 9."""
    problem = two_parabolas((1, 3))
    history = train(Cotaf(), IdealLink(), problem, rounds=1)
    assert history["train_loss"][0] == pytest.approx(0.25 * 0.5 + 0.75 * 9)


@pytest.mark.parametrize("algorithm", ["acpc", "acpc, previous", "cotaf", "fedavg"])
def test_runs_continue_when_updates_vanish(algorithm):
    """Without noise, towards an optimum at zero, until updates are below what links carry."""
    problem = quadratic_problem(np.ones((1, 1, 1)), [[0.0]], start=[1.0])
    history = train(
        ALGORITHMS[algorithm],
        GaussianLink(snr_db=np.inf),
        problem,
        rounds=60,
        steps=10,
        sgd=Sgd(0.5, None),
    )
    assert history.num_rounds == 60
    assert abs(history.model[0]) < 1e-11


def test_divergence_stops_one_run_and_keeps_its_metrics():
    """eta = 5 multiplies the distance of client 2 by -9 in each step."""
    problem = two_parabolas()
    options = {"rounds": 40, "sgd": Sgd(5.0, None), "steps": 2}
    runs = [(FedAvg(), IdealLink()), (Cotaf(server_step=1e-3), IdealLink())]
    with pytest.warns(DivergenceWarning, match="diverged in round [4-8]") as caught:
        wild, tame = train_together(runs, problem, **options)
    expected = "clients [0, 1] grew beyond 1e+11 within 2 local steps at learning rate 5"
    assert expected in wild.diverged
    assert str(caught[0].message) == wild.diverged
    assert f"round {wild.num_rounds}:" in wild.diverged
    assert 4 <= wild.num_rounds < 9
    assert np.isfinite(wild["test_loss"]).all()
    assert np.isfinite(wild.model).all()
    assert tame.diverged is None
    assert tame.num_rounds == 40
    with pytest.warns(DivergenceWarning, match="round 0: the models of clients .1. grew beyond"):
        at_once = train(Cotaf(), IdealLink(), problem, **{**options, "steps": [1, 50]})
    assert at_once.num_rounds == 0
    assert np.isnan(at_once.final_accuracy())


def test_nan_is_divergence(problem):
    """A run whose algorithm or link returns NaN stops with a warning, not with an error."""

    class Broken(Algorithm):
        def aggregate(self, current, plan, updates, steps):
            received = current.uplink.send(updates, 1.0)
            return Outcome(current.model * np.nan, received, 1.0)

    with pytest.warns(DivergenceWarning, match="round 0: .* took its model to infinity or NaN"):
        history = train(Broken(), IdealLink(), problem, rounds=3, **OPTIONS)
    assert history.num_rounds == 0
    with pytest.raises(KeyError, match="the run has no rounds"):
        history["nmse"]
    assert repr(history) == f"History(Broken, 0 rounds, {history.diverged})"


def test_user_defined_link(problem):
    """In plain NumPy; a link need not report any diagnostics."""

    class Sum:
        budget = np.ones((4, 1))

        def energy(self, signals):
            return np.square(signals).sum(axis=-1, keepdims=True)

        def load(self, signals):
            return self.energy(signals)[..., 0]

        def max_gain(self, signals):
            return 1 / np.sqrt(self.load(signals).max())

        def send(self, signals, gain, *, weights=None, enforce=True):
            return Reception(signals.sum(axis=0), gain**2 * self.energy(signals), {})

    class SumLink:
        def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
            return Sum()

    own = train(Cotaf(), SumLink(), problem, rounds=3, **OPTIONS)
    ideal = train(Cotaf(), IdealLink(), problem, rounds=3, **OPTIONS)
    np.testing.assert_allclose(own.model, ideal.model, atol=1e-5)
    assert np.isnan(own["nmse"]).all()


@pytest.mark.parametrize("algorithm", ["cotaf", "fedavg", "acpc, previous"])
def test_signals_that_a_link_refuses_are_divergence(algorithm):
    """Over weak channels a link's range ends before a model's; other runs go on."""
    problem = default_quadratic(5, 60)
    weak = OfdmLink(path_gain=1e-10, reference_power=1e-10)
    runs = [(ALGORITHMS[algorithm], weak), (Cotaf(server_step=1e-3), IdealLink())]
    with pytest.warns(DivergenceWarning, match="diverged in round"):
        wild, other = train_together(runs, problem, rounds=80, sgd=Sgd(2.9, 10), steps=3)
    assert "signals must be" in wild.diverged
    assert 5 < wild.num_rounds < 80
    assert np.isfinite(wild.model).all()
    assert other.num_rounds == 80 or "grew beyond" in other.diverged
