"""The round loop: repeatable, resumable, together as alone, over every link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Acpc,
    Algorithm,
    Cotaf,
    DivergenceWarning,
    FedAvg,
    LogisticRegression,
    Mlp,
    Outcome,
    Plan,
    Reception,
    Sgd,
    UniformSteps,
    quadratic_problem,
    train,
    train_together,
)
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import PilotCsi, Tdl
from phy.impairments import Adc, CarrierOffset, PhaseNoise, Rapp
from tests.fl.problems import two_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same

LINKS = {
    "ideal": IdealLink(),
    "gaussian": GaussianLink(snr_db=10.0),
    "no noise": GaussianLink(snr_db=np.inf),
    "fading": FadingLink(snr_db=10.0, truncation=0.3),
    "ofdm": OfdmLink(entry_snr_db=10.0, csi=PilotCsi(snr_db=20.0, num_pilots=2)),
    "ofdm, mmse": OfdmLink(entry_snr_db=10.0, control="mmse"),
    "ofdm, moving": OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0), correction="active"),
    "waveform": WaveformLink(
        entry_snr_db=10.0,
        transmit=(Rapp(6.0), CarrierOffset(std=0.01), PhaseNoise(10.0)),
        receive=(Adc(10),),
    ),
    "ofdm, sionna": OfdmLink(entry_snr_db=10.0, engine="sionna"),
    "orthogonal": OrthogonalLink(snr_db=10.0),
}
EVERY_CLIENT = (
    "steps",
    "scaled_down",
    "energy",
    "worst_symbol_energy",
    "load",
    "active_fraction",
    "radiated_energy",
    "clip_rate",
    "papr_db",
    "largest_gradient",
)
EVERY_ROUND = (
    "test_accuracy",
    "test_loss",
    "train_loss",
    "squared_gradient_norm",
    "rate",
    "gain",
    "nmse",
    "received_snr_db",
    "airtime",
)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_over_every_link(algorithm, link, data, shards):
    history = train(ALGORITHMS[algorithm], LINKS[link], data, shards, rounds=3, **OPTIONS)
    assert history.diverged is None
    assert len(history) == 3
    assert np.isfinite(history.model).all()
    assert set(history.metrics) == {*EVERY_CLIENT, *EVERY_ROUND, "symbol_load"}
    for name in EVERY_CLIENT:
        assert history[name].shape == (3, 4), name
    for name in EVERY_ROUND:
        assert history[name].shape == (3,), name
    for name in ("test_accuracy", "test_loss", "train_loss", "nmse", "airtime", "energy"):
        assert np.isfinite(history[name]).all(), name
    if algorithm != "fedavg":
        assert (history["load"] <= 1 + 1e-5).all()
    over_the_air = link not in ("ideal", "orthogonal")
    assert np.isnan(history["received_snr_db"]).all() == (not over_the_air)


def test_same_seed_same_result(data, shards):
    link = OfdmLink(entry_snr_db=10.0)
    one, same, other = (
        train(Acpc(), link, data, shards, rounds=5, **{**OPTIONS, "seed": seed})
        for seed in (1, 1, 2)
    )
    check_same(one, same)
    assert (one.model != other.model).any()
    assert (one["steps"] != other["steps"]).any()


def test_together_is_alone(data, shards):
    """Up to the rounding of products of another shape."""
    runs = [
        (algorithm, link)
        for algorithm in (Acpc(beta="realised"), Cotaf(), FedAvg())
        for link in (GaussianLink(snr_db=10.0), IdealLink())
    ]
    together = train_together(runs, data, shards, rounds=5, **OPTIONS)
    for (algorithm, link), history in zip(runs, together, strict=True):
        check_same(train(algorithm, link, data, shards, rounds=5, **OPTIONS), history, rtol=1e-3)


def test_runs_are_paired(data, shards):
    """The same minibatches, capabilities, channels and noise, whatever the SNR."""
    runs = [(Cotaf(), OfdmLink(entry_snr_db=snr)) for snr in (np.inf, 200.0, 30.0)]
    clean, almost, noisy = train_together(runs, data, shards, rounds=4, **OPTIONS)
    np.testing.assert_array_equal(clean["steps"], noisy["steps"])
    np.testing.assert_array_equal(clean["active_fraction"], noisy["active_fraction"])
    assert clean["train_loss"][0] == noisy["train_loss"][0]
    np.testing.assert_allclose(clean.model, almost.model, atol=1e-5)


def test_metrics_are_those_of_the_rounds(data, shards):
    link = OfdmLink(entry_snr_db=10.0)
    history = train(
        Cotaf(), link, data, shards, rounds=6, test_every=3, measure_gradient=True, **OPTIONS
    )
    tested = np.array([False, False, True, False, False, True])
    for name in ("test_accuracy", "test_loss", "squared_gradient_norm"):
        np.testing.assert_array_equal(np.isnan(history[name]), ~tested)
    assert history.final_accuracy(1) == history["test_accuracy"][-1]
    assert history.final_accuracy() == history["test_accuracy"][[2, 5]].mean()
    np.testing.assert_allclose(np.diff(history["airtime"]), history["airtime"][0])
    assert (np.diff(history["radiated_energy"], axis=0) > 0).all()
    assert (history["worst_symbol_energy"] <= history["energy"]).all()
    np.testing.assert_allclose(history["load"].max(axis=1), 1, rtol=1e-4)  # someone is at its limit
    assert (history["rate"] == 0.5).all()
    assert f"Cotaf, 6 rounds, accuracy {history['test_accuracy'][-1]:.1%}, NMSE" in repr(history)
    assert repr(history).endswith("load up to 1, 0% scaled down)")
    with pytest.raises(KeyError, match="'accuracy': there are rate"):
        history["accuracy"]


def test_measured_gradient_is_that_of_the_objective():
    """||sum_i alpha_i (H_i x - e_i) + lambda x||^2, at the beginning of the round."""
    problem = two_parabolas()
    history = train(
        FedAvg(),
        IdealLink(),
        problem.data,
        problem.shards,
        model=problem.model,
        rounds=2,
        steps=1,
        sgd=Sgd(0.25, None, weight_decay=0.5),
        measure_gradient=True,
    )
    x1 = 0.25 * 3.5
    expected = [3.5**2, (1.5 * x1 - 3.5 + 0.5 * x1) ** 2]
    np.testing.assert_allclose(history["squared_gradient_norm"], expected)


class Recorder:
    """A link that notes how it is opened."""

    def __init__(self):
        self.opened = []

    def open(self, num_clients, length, rng, **options):
        states = [repr(each.bit_generator.state) for each in (rng, options["device_rng"])]
        self.opened.append((options["time"], *states))
        return IdealLink().open(num_clients, length, rng, **options)


def test_links_are_told_the_time_and_the_devices(data, shards):
    """What a round draws is its own; what belongs to a device stays with it for the run."""
    link = Recorder()
    options = {**OPTIONS, "steps": UniformSteps(1, 99), "round_period": 0.5}
    history = train(Cotaf(), link, data, shards, rounds=4, **options)
    times, rounds, devices = zip(*link.opened, strict=True)
    assert times == (0.0, 0.5, 1.0, 1.5)
    assert len(set(rounds)) == 4
    assert len(set(devices)) == 1
    assert devices[0] not in rounds
    assert len({tuple(row) for row in history["steps"]}) == 4


def test_train_loss_is_weighted():
    """1/4 F_1 + 3/4 F_2 at zero, F_1 = 1/2 and F_2 = 9."""
    problem = two_parabolas((1, 3))
    history = train(
        Cotaf(), IdealLink(), problem.data, problem.shards, model=problem.model, rounds=1
    )
    assert history["train_loss"][0] == pytest.approx(0.25 * 0.5 + 0.75 * 9)


@pytest.mark.parametrize("algorithm", ["acpc", "acpc, previous", "cotaf", "fedavg"])
def test_runs_that_converge_to_nothing_go_on(algorithm):
    """Without noise to an optimum at zero, until updates vanish in every measure."""
    problem = quadratic_problem(np.ones((1, 1, 1)), [[0.0]], start=[1.0])
    history = train(
        ALGORITHMS[algorithm], GaussianLink(snr_db=np.inf), problem.data, problem.shards,
        model=problem.model, rounds=60, steps=10, sgd=Sgd(0.5, None),
    )  # fmt: skip
    assert len(history) == 60
    assert abs(history.model[0]) < 1e-15


def test_divergence_stops_one_run_and_keeps_what_was_measured():
    """eta = 5 multiplies the distance of client 2 by -9 in each step."""
    problem = two_parabolas()
    arguments = (problem.data, problem.shards)
    options = {"model": problem.model, "rounds": 40, "sgd": Sgd(5.0, None), "steps": 2}
    runs = [(FedAvg(), IdealLink()), (Cotaf(server_step=1e-3), IdealLink())]
    with pytest.warns(DivergenceWarning, match="diverged in round 1[0-9]") as caught:
        wild, tame = train_together(runs, *arguments, **options)
    assert "clients [0, 1] grew beyond 1e+30 within 2 local steps of rate 5" in wild.diverged
    assert str(caught[0].message) == wild.diverged
    assert f"round {len(wild)}:" in wild.diverged
    assert 10 <= len(wild) < 20
    assert np.isfinite(wild["test_loss"]).all()
    assert np.isfinite(wild.model).all()
    assert tame.diverged is None
    assert len(tame) == 40
    with pytest.warns(DivergenceWarning, match="round 0: the models of clients .1. grew beyond"):
        at_once = train(Cotaf(), IdealLink(), *arguments, **{**options, "steps": [1, 50]})
    assert len(at_once) == 0
    assert np.isnan(at_once.final_accuracy())


def test_losing_numbers_is_divergence(data, shards):
    """An algorithm or link that gives NaN stops its run with a message, not with an error."""

    class Broken(Algorithm):
        def aggregate(self, round, plan, updates, steps):
            received = round.slot.send(updates, 1.0)
            return Outcome(round.model * np.nan, received, 1.0)

    with pytest.warns(DivergenceWarning, match="round 0: .* took its model to infinity or NaN"):
        history = train(Broken(), IdealLink(), data, shards, rounds=3, **OPTIONS)
    assert len(history) == 0
    with pytest.raises(KeyError, match="the run has no round"):
        history["nmse"]
    assert repr(history) == f"History(Broken, 0 rounds, {history.diverged})"


def test_own_algorithm_and_own_link(data, shards):
    """With NumPy alone; a link may report as little as it likes."""

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

    own = train(Cotaf(), SumLink(), data, shards, rounds=3, **OPTIONS)
    ideal = train(Cotaf(), IdealLink(), data, shards, rounds=3, **OPTIONS)
    np.testing.assert_allclose(own.model, ideal.model, atol=1e-5)
    assert np.isnan(own["nmse"]).all()


def test_progress_only_on_terminals(data, shards, capsys):
    train(Cotaf(), IdealLink(), data, shards, rounds=2, **OPTIONS)
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds = 0 is not allowed"),
        ({"rounds": 2.5}, "rounds = 2.5 is not allowed"),
        ({"seed": -1}, "seed = -1 is not allowed"),
        ({"round_period": np.nan}, "round_period = nan"),
        ({"test_every": 0}, "test_every = 0"),
    ],
)
def test_refused(options, message, data, shards):
    with pytest.raises(ValueError, match=message):
        train(Cotaf(), IdealLink(), data, shards, **{"rounds": 1, **options})


class InPlace(Cotaf):
    def aggregate(self, round, plan, updates, steps):
        outcome = super().aggregate(round, plan, updates, steps)
        round.model[:] = outcome.model
        return outcome


class Nothing(Cotaf):
    def aggregate(self, *arguments):
        return None


class Slaver(Cotaf):
    def plan(self, round):
        return Plan(round.capability + 1)


class Wide(Cotaf):
    def aggregate(self, *arguments):
        outcome = super().aggregate(*arguments)
        return replace(outcome, model=outcome.model[None])


class HalfModel(LogisticRegression):
    def initial(self, rng):
        return np.zeros(self.size, np.float16)


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ([], {}, "runs are empty"),
        (
            [(IdealLink(), Cotaf())],
            {},
            "algorithm = IdealLink.. is not allowed: give an fl.Algorithm",
        ),
        ([(Cotaf, IdealLink())], {}, "algorithm = <class .*Cotaf.> is not allowed"),
        ([(Cotaf(), IdealLink)], {}, "link = <class .*IdealLink.> is not allowed"),
        ([(Cotaf(), 10.0)], {}, "link = 10.0 is not allowed"),
        ([(Cotaf(), lambda number: None)], {}, "given as link gave None for round 0"),
        ([(Wide(), IdealLink())], {}, "Wide.* gave a model of shape .1, 52.: it must have .52,."),
        ([(InPlace(), IdealLink())], {}, "read-only"),
        ([(Nothing(), IdealLink())], {}, "Nothing.* gave None as aggregate: give an Outcome"),
        ([(Slaver(), IdealLink())], {}, "plans steps = .*11.* in round 0: the clients can do .*10"),
        ([Cotaf(), IdealLink()], {}, "give pairs .algorithm, link."),
        (None, {"data": "mnist"}, "data = 'mnist' is not allowed: give what load_dataset gives"),
        (None, {"sgd": 0.1}, "sgd = 0.1 is not allowed"),
        (None, {"model": Mlp}, "model = <class .*Mlp.> is not allowed"),
        (None, {"model": LogisticRegression(12, 3)}, "gives 3 scores: the labels .* take 4"),
        (None, {"model": HalfModel(12, 4)}, "begins with float16 of shape .52,.: give float32"),
    ],
)
def test_what_is_not_what_it_is_taken_for(runs, options, message, data, shards):
    runs = [(Cotaf(), IdealLink())] if runs is None else runs
    arguments = {"data": data, "shards": shards, "rounds": 1, **options}
    with pytest.raises(ValueError, match=message):
        train_together(runs, **arguments)
