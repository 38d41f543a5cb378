"""User-defined parts that return something invalid are refused, with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Algorithm,
    BestChannels,
    Cotaf,
    LogisticRegression,
    Mlp,
    Outcome,
    Participation,
    Plan,
    Problem,
    RandomClients,
    Reception,
    Selection,
    Sgd,
    train,
    train_together,
)
from fl.quadratic import default_quadratic
from links import IdealLink
from tests.fl.test_api import SignUplink


class WrongLink:
    def __init__(self, uplink):
        self.uplink = uplink

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return self.uplink


class FlatEnergy(SignUplink):
    def send(self, signals, gain, *, weights=None, enforce=True):
        return Reception(np.sum(signals, axis=0), np.zeros(len(signals)), {})


class SumOnly(SignUplink):
    def send(self, signals, gain, *, weights=None, enforce=True):
        return np.sum(signals, axis=0)


class Careless(Algorithm):
    """Returns whatever the uplink returned as its reception, and a number as its plan."""

    def __init__(self, plans=False):
        self.plans = plans

    def plan(self, current):
        return 3 if self.plans else super().plan(current)

    def aggregate(self, current, plan, updates, steps):
        return Outcome(current.model, current.uplink.send(updates, 1.0), 1.0)


@pytest.mark.parametrize(
    ("algorithm", "link", "message"),
    [
        (Cotaf(), WrongLink(3), "WrongLink.open must be an uplink with budget, energy.*, got 3"),
        (
            Cotaf(),
            WrongLink(SignUplink(3)),
            "the budget of WrongLink's uplink must be of shape .m, constr.*10, 1., got .3, 1.",
        ),
        (
            Careless(),
            WrongLink(FlatEnergy(10)),
            "energy of a Reception must be of shape .m, symbols.*, got .10,.",
        ),
        (
            Careless(),
            WrongLink(SumOnly(10)),
            "reception in the Outcome of .* must be the Reception that uplink.send returned",
        ),
        (
            Careless(plans=True),
            IdealLink(),
            "the result of .*Careless.*.plan must be a Plan, got 3",
        ),
        (IdealLink(), Cotaf(), "algorithm must be an fl.Algorithm, .*, got IdealLink.."),
        (Cotaf(), 3, "link must be a link, .* or a function of the round that returns one, got 3"),
    ],
)
def test_mistakes_in_user_defined_parts_are_named(algorithm, link, message):
    problem = default_quadratic()
    with pytest.raises(ValueError, match=message):
        train(algorithm, link, problem, rounds=1)


class InPlace(Cotaf):
    def aggregate(self, current, plan, updates, steps):
        outcome = super().aggregate(current, plan, updates, steps)
        current.model[:] = outcome.model
        return outcome


class Nothing(Cotaf):
    def aggregate(self, *arguments):
        return None


class Overworked(Cotaf):
    def plan(self, current):
        return Plan(current.max_steps + 1)


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
        ([], {}, "runs must be at least one pair .algorithm, link., got .."),
        (
            [(IdealLink(), Cotaf())],
            {},
            "algorithm must be an fl.Algorithm, .*, got IdealLink..",
        ),
        ([(Cotaf, IdealLink())], {}, "algorithm must be .*, got <class .*Cotaf.>"),
        ([(Cotaf(), IdealLink)], {}, "link must be .*, got <class .*IdealLink.>"),
        ([(Cotaf(), 10.0)], {}, "link must be .*, got 10.0"),
        (
            [(Cotaf(), lambda number: None)],
            {},
            "the link of round 0 must be an object with a method open, got None",
        ),
        (
            [(Wide(), IdealLink())],
            {},
            "model in the Outcome of Wide.* must be of shape .52,., got .1, 52.",
        ),
        ([(InPlace(), IdealLink())], {}, "read-only"),
        (
            [(Nothing(), IdealLink())],
            {},
            "the result of Nothing.*.aggregate must be an Outcome, got None",
        ),
        (
            [(Overworked(), IdealLink())],
            {},
            "Overworked.* plans in round 0 must be at most .*10.*, got .*11",
        ),
        ([Cotaf(), IdealLink()], {}, "runs must be pairs .algorithm, link., got"),
        (
            None,
            {"data": "mnist"},
            "data must be a Dataset, such as load_dataset returns, got 'mnist'",
        ),
        (None, {"sgd": 0.1}, "sgd must be an Sgd, such as Sgd.rate=0.1., got 0.1"),
        (
            None,
            {"model": Mlp},
            "model must be a model, such as Mlp.*, got <class .*Mlp.>",
        ),
        (
            None,
            {"model": LogisticRegression(12, 3)},
            "model must be .* each of the 4 classes of the data, got .*, which has 3",
        ),
        (
            None,
            {"model": HalfModel(12, 4)},
            "initial must return float32 or float64 of shape .52,., got float16",
        ),
    ],
)
def test_argument_types_are_validated(runs, options, message, data, shards):
    runs = [(Cotaf(), IdealLink())] if runs is None else runs
    parts = {"model": None, "data": data, "shards": shards}
    parts |= {name: options[name] for name in parts.keys() & options.keys()}
    sgd = options.get("sgd", Sgd())
    with pytest.raises(ValueError, match=message):
        train_together(runs, Problem(**parts), rounds=1, sgd=sgd)


class Slow:
    """A link that takes 0.1 s longer than the time since the run began."""

    def __init__(self, moving):
        self.moving = moving

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        uplink = SlowUplink(num_clients)
        uplink.airtime = time + 0.1
        if self.moving is not None:
            uplink.moving = self.moving
        return uplink


class SlowUplink(SignUplink):
    def send(self, signals, gain, *, weights=None, enforce=True):
        total, energy = np.sum(signals, axis=0), np.zeros((len(signals), 1))
        return Reception(total, energy, {"airtime": self.airtime})


@pytest.mark.parametrize("moving", [True, False, None])
def test_rounds_on_a_moving_channel_do_not_overlap(moving):
    """Round 1 lasts 0.3 s, and round 2 begins 0.2 s later: refused if the channel moves."""
    problem = default_quadratic()
    options = {"round_period": 0.2, "sgd": Sgd(0.01, 10)}
    assert train(Careless(), Slow(moving), problem, rounds=1, **options).num_rounds == 1
    if moving:
        message = "round_period must be at least 0.3 s, the airtime of round 1, got 0.2: the chan"
        with pytest.raises(ValueError, match=message):
            train(Careless(), Slow(moving), problem, rounds=4, **options)
    else:
        history = train(Careless(), Slow(moving), problem, rounds=4, **options)
        np.testing.assert_allclose(np.diff(history["airtime"]), [0.3, 0.5, 0.7])


def test_drift_of_another_length_is_refused(problem):
    class Drifting(Cotaf):
        def plan(self, current):
            return Plan(current.max_steps, drift=np.zeros((len(current.weights), 3)))

    with pytest.raises(ValueError, match=r"the drift that .* plans must be of shape \(4, 52\)"):
        train(Drifting(), IdealLink(), problem, rounds=1)


class Chooses(Participation):
    """A selection with a mistake."""

    def __init__(self, result):
        self.result = result

    def size(self, population):
        return 1

    def select(self, context):
        return self.result


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([0, 1], "select must be a Selection.clients, weights., got .0, 1."),
        (Selection(np.array([], int), np.ones(0)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([1, 1]), np.ones(2)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([2, 1]), np.ones(2)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([-1, 1]), np.ones(2)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([1, 10]), np.ones(2)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([0.0]), np.ones(1)), "different indices from 0 to 9, ascending, got"),
        (Selection(np.array([3]), np.zeros(1)), "a finite number > 0 for each client, got"),
        (Selection(np.array([3]), np.ones(2)), "a finite number > 0 for each client, got"),
        (Selection(np.array([3]), np.array([np.nan])), "a finite number > 0 for each client, got"),
    ],
)
def test_selections_are_checked(result, message):
    with pytest.raises(ValueError, match=message):
        train(Cotaf(), IdealLink(), default_quadratic(), rounds=1, participation=Chooses(result))


class Silent(SignUplink):
    quality = np.array([1.0, np.nan])

    def only(self, places):
        return self


@pytest.mark.parametrize("uplink", [SignUplink(2), Silent(2)])
def test_a_link_without_channels_cannot_select_by_them(uplink):
    with pytest.raises(
        ValueError, match="WrongLink cannot select clients by channel: its uplink m"
    ):
        train(
            Cotaf(), WrongLink(uplink), default_quadratic(), rounds=1,
            participation=BestChannels(1, 2),
        )  # fmt: skip


class Hoarder(Cotaf):
    """Remembers a lot of each device."""

    def aggregate(self, current, *arguments):
        outcome = super().aggregate(current, *arguments)
        rows = np.zeros((len(current.weights), 1000))
        return replace(outcome, device_state={"rows": rows})


def test_state_per_device_is_limited_by_those_who_may_take_part(monkeypatch):
    """8 kB a device: 80 kB for ten, 24 kB if one takes part in each of three rounds."""
    problem = default_quadratic()
    monkeypatch.setattr("fl.conformance.MOST_DEVICE_STATE", 50_000)
    message = "state per device of Hoarder.* would take 0.0 GiB for 10 devices that may take part"
    with pytest.raises(ValueError, match=message):
        train(Hoarder(), IdealLink(), problem, rounds=3)
    few = train(Hoarder(), IdealLink(), problem, rounds=3, participation=RandomClients(1))
    assert few.num_rounds == 3
