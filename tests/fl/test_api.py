"""The protocol as a user of NumPy meets it: a link of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Algorithm, Cotaf, Link, Outcome, Reception, train
from fl.quadratic import default_quadratic
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink


class SignLink:
    """Majority vote: the sum of signs, without noise."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return SignSlot(num_clients)


class SignSlot:
    def __init__(self, num_clients):
        self.budget = np.full((num_clients, 1), np.inf)

    def energy(self, signals):
        return np.square(signals).sum(axis=-1, keepdims=True)

    def load(self, signals):
        return np.zeros(len(signals))

    def max_gain(self, signals):
        return np.inf

    def send(self, signals, gain, *, weights=None, enforce=True):
        return Reception(np.sign(signals).sum(axis=0), np.zeros((len(signals), 1)), {})


def run(link: Link) -> Reception:
    signals = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    slot = link.open(2, 3, np.random.default_rng(1))
    gain = min(float(slot.max_gain(signals)), 1.0)
    return slot.send(signals, gain)


def test_a_link_of_ones_own_serves_beside_the_others():
    np.testing.assert_array_equal(run(SignLink()).total, [2, 0, 0])
    for link in (
        IdealLink(),
        GaussianLink(),
        FadingLink(),
        OfdmLink(),
        WaveformLink(),
        OrthogonalLink(),
    ):
        reception = run(link)
        assert reception.total.shape == (3,)
        assert {"nmse", "airtime", "radiated_energy"} <= set(reception.diagnostics)
        assert np.shape(reception.diagnostics["radiated_energy"]) == (2,)


class WrongLink:
    def __init__(self, slot):
        self.slot = slot

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return self.slot


class FlatEnergy(SignSlot):
    def send(self, signals, gain, *, weights=None, enforce=True):
        return Reception(np.sum(signals, axis=0), np.zeros(len(signals)), {})


class SumOnly(SignSlot):
    def send(self, signals, gain, *, weights=None, enforce=True):
        return np.sum(signals, axis=0)


class Careless(Algorithm):
    """Its reception is whatever the slot gave, its plan if it has one a number."""

    def __init__(self, plans=False):
        self.plans = plans

    def plan(self, round):
        return 3 if self.plans else super().plan(round)

    def aggregate(self, round, plan, updates, steps):
        return Outcome(round.model, round.slot.send(updates, 1.0), 1.0)


@pytest.mark.parametrize(
    ("algorithm", "link", "message"),
    [
        (Cotaf(), WrongLink(3), "WrongLink.open gave 3: give a slot with budget, energy"),
        (
            Cotaf(),
            WrongLink(SignSlot(3)),
            "budget has shape .3, 1.: give .m, constraints., .*10, 1",
        ),
        (Careless(), WrongLink(FlatEnergy(10)), "energy of shape .10,.: give .m, symbols."),
        (Careless(), WrongLink(SumOnly(10)), "as reception of its Outcome: give the Reception"),
        (Careless(plans=True), IdealLink(), "gave 3 as plan: give a Plan"),
        (IdealLink(), Cotaf(), "algorithm = IdealLink.. is not allowed: give an fl.Algorithm"),
        (Cotaf(), 3, "link = 3 is not allowed: .* an object with a method open"),
    ],
)
def test_mistakes_in_ones_own_parts_are_said(algorithm, link, message):
    problem = default_quadratic()
    with pytest.raises(ValueError, match=message):
        train(algorithm, link, problem.data, problem.shards, model=problem.model, rounds=1)
