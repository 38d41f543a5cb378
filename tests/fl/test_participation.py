"""Who takes part: unbiased weights where they exist, and the bias where they do not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fl import (
    BestChannels,
    Cotaf,
    Everyone,
    Participation,
    ProportionalFair,
    RandomClients,
    RoundRobin,
    train,
)
from fl.participation import SelectionContext
from links import GaussianLink, IdealLink, OfdmLink
from phy import Rayleigh, Tdl
from tests.fl.problems import two_parabolas
from tests.fl.runs import OPTIONS

WEIGHTS = np.array([0.1, 0.4, 0.2, 0.3])


def asked(rng, t=0, weights=WEIGHTS, quality=None, memory=None):
    return SelectionContext(
        t, np.asarray(weights), rng, quality or (lambda devices: devices), memory or {}
    )


def selections(selection, rng, count, weights=WEIGHTS):
    """Return the weight [count, M] of every device in ``count`` rounds, 0 if it is not in it."""
    found = np.zeros((count, len(weights)))
    for t, row in enumerate(found):
        chosen = selection.select(asked(rng, t, weights))
        row[chosen.clients] = chosen.weights
    return found


def check_mean(found, expected):
    """Within five standard errors."""
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


def test_everyone_counts_by_size(rng):
    chosen = Everyone().select(asked(rng))
    assert chosen.clients.tolist() == [0, 1, 2, 3]
    assert chosen.weights.tolist() == [0.1, 0.4, 0.2, 0.3]
    assert Everyone().size(7) == 7


@pytest.mark.parametrize(
    "selection",
    [
        RandomClients(2),
        RandomClients(3, replacement=True),
        RandomClients(3, replacement=True, probability="size"),
        RandomClients(1),
        RandomClients(4),
    ],
)
def test_random_weights_are_unbiased(selection, rng):
    """E sum over those who take part of w_i Delta_i = sum_i alpha_i Delta_i, for every Delta."""
    check_mean(selections(selection, rng, 4000), [0.1, 0.4, 0.2, 0.3])


def test_random_weights_by_hand(rng):
    """M / k alpha_i: twice alpha_i if two of four take part, and 1 / k a draw by size."""
    chosen = RandomClients(2).select(asked(rng))
    assert len(chosen.clients) == 2
    np.testing.assert_allclose(chosen.weights, 2 * WEIGHTS[chosen.clients])
    chosen = RandomClients(8, replacement=True, probability="size").select(asked(rng))
    np.testing.assert_allclose(chosen.weights.sum(), 1)
    np.testing.assert_allclose(8 * chosen.weights, np.rint(8 * chosen.weights))
    twice = RandomClients(6, replacement=True).select(asked(rng, weights=[0.25, 0.75]))
    counts = twice.weights / (np.array([0.25, 0.75])[twice.clients] * 2 / 6)
    np.testing.assert_allclose(counts, np.rint(counts))
    assert counts.sum() == pytest.approx(6)


def test_drawn_by_size_as_often_as_their_share(rng):
    """Device i is drawn at all with probability 1 - (1 - alpha_i)^3."""
    taken = selections(RandomClients(3, replacement=True, probability="size"), rng, 4000) > 0
    check_mean(taken.astype(float), 1 - (1 - WEIGHTS) ** 3)


def test_round_robin_takes_turns(rng):
    found = [RoundRobin(2).select(asked(rng, t, np.full(5, 0.2))).clients for t in range(5)]
    assert [each.tolist() for each in found] == [[0, 1], [2, 3], [0, 4], [1, 2], [3, 4]]
    everything = selections(RoundRobin(3), rng, 4)  # 12 turns of 4 devices
    np.testing.assert_allclose(everything.mean(axis=0), WEIGHTS)


def test_best_channels(rng):
    """The strongest of the candidates, who are all devices here."""

    def quality(devices):
        return np.array([5.0, 1.0, 7.0, 3.0])[devices]

    chosen = BestChannels(2, 4).select(asked(rng, quality=quality))
    assert chosen.clients.tolist() == [0, 2]
    np.testing.assert_allclose(chosen.weights, [0.2, 0.4])


def test_only_candidates_are_measured(rng):
    seen = []

    def quality(devices):
        seen.append(devices)
        return np.ones(len(devices))

    weights = np.full(1000, 0.001)
    chosen = BestChannels(3, 10).select(asked(rng, weights=weights, quality=quality))
    (candidates,) = seen
    assert len(candidates) == 10
    assert set(chosen.clients) < set(candidates)


@pytest.mark.parametrize("selection", [BestChannels(1, 4), ProportionalFair(1, 4, window=1e9)])
def test_chance_decides_between_equal_channels(selection, rng):
    equal = [
        selection.select(asked(rng, quality=lambda devices: np.ones(4))).clients[0]
        for _ in range(2000)
    ]
    counts = np.bincount(equal, minlength=4)
    assert (np.abs(counts - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75)).all()


@pytest.mark.parametrize(("one", "other"), [(1.0, 1.0), (3.0, 1.0)])
def test_bias_of_the_best_channel_in_closed_form(one, other, rng):
    """P(g_1 |h_1|^2 > g_2 |h_2|^2) = g_1 / (g_1 + g_2) for Rayleigh fading: 1/2, and 3/4."""
    history = train(
        Cotaf(),
        OfdmLink(entry_snr_db=np.inf, fading=Rayleigh(), path_gain=[one, other]),
        two_parabolas(),
        participation=BestChannels(1, 2),
        rounds=600,
        seed=int(rng.integers(2**31)),
    )
    share = one / (one + other)
    first = (history["device"][:, 0] == 0).mean()
    assert abs(first - share) < 5 * np.sqrt(share * (1 - share) / 600)
    assert history.participation_bias() == pytest.approx(abs(first - 0.5))


def test_proportional_fair_by_hand(rng):
    """T = 1, 1 at first; with t_c = 2, T_i = T_i / 2 + q_i / 2 if i takes part, else T_i / 2."""
    selection = ProportionalFair(1, 2, window=2)
    memory, averages, served = {}, np.ones(2), []
    powers = [(4.0, 3.0), (4.0, 3.0), (4.0, 3.0), (9.0, 1.0), (1.0, 1.2)]
    for t, power in enumerate(powers):
        chosen = selection.select(
            asked(rng, t, [0.5, 0.5], lambda devices, q=power: np.array(q)[devices], memory)
        )
        expected = int(np.argmax(np.array(power) / averages))
        assert chosen.clients.tolist() == [expected]
        averages = averages / 2
        averages[expected] += power[expected] / 2
        memory = chosen.memory
        place = memory["device"].tolist().index(expected)
        assert memory["average"][place] == pytest.approx(averages[expected])
        served.append(expected)
    assert served[:2] == [0, 1]  # 4 > 3, then 4 / 2.5 < 3 / 0.5
    assert memory["device"].tolist() == [0, 1]


def test_proportional_fairness_is_fairer(rng):
    """One channel is ten times stronger than the other."""

    def bias(selection):
        memory, counts = {}, np.zeros(2)
        for t in range(2000):
            chosen = selection.select(
                asked(
                    rng,
                    t,
                    [0.5, 0.5],
                    lambda devices: np.array([10.0, 1.0])[devices] * rng.exponential(size=2),
                    memory,
                )
            )
            counts[chosen.clients] += 1
            memory = chosen.memory
        return abs(counts[0] / 2000 - 0.5)

    assert bias(BestChannels(1, 2)) > 0.35  # 10 / 11 - 1 / 2 = 0.41, sd 0.007
    assert bias(ProportionalFair(1, 2)) < 0.1


def test_a_device_that_waited_long_is_next(rng):
    """Its average has faded far below what floats hold."""
    selection = ProportionalFair(1, 2, window=2)
    memory = selection.select(asked(rng, 0, [0.5, 0.5], lambda d: np.array([9.0, 1.0]))).memory
    assert memory["device"].tolist() == [0]
    late = selection.select(asked(rng, 5000, [0.5, 0.5], lambda d: np.array([1.0, 1.0]), memory))
    assert late.clients.tolist() == [1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomClients(0), "clients must be a whole number >= 1, got 0"),
        (
            lambda: RandomClients(2, probability="size"),
            "replacement must be True with probability = 'size', got Fal",
        ),
        (
            lambda: RandomClients(2, probability="age"),
            "probability must be one of 'uniform', 'size'",
        ),
        (lambda: RandomClients(2, replacement=1), "replacement must be"),
        (lambda: RoundRobin(0), "clients must be"),
        (lambda: BestChannels(3, 2), "candidates must be at least 3, the value of clients, got 2"),
        (lambda: ProportionalFair(1, 2, window=1), "window must be a finite number > 1, got 1"),
        (lambda: RandomClients(5).size(4), "clients must be at most 4, the number of devices, got"),
        (lambda: RoundRobin(5).size(4), "clients must be at most 4"),
        (lambda: BestChannels(2, 5).size(4), "candidates must be at most 4"),
        (lambda: ProportionalFair(2, 5).size(4), "candidates must be at most 4"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sizes():
    """With replacement there may be more draws than devices."""
    assert RandomClients(9, replacement=True).size(4) == 9
    assert [each.size(9) for each in (RandomClients(2), RoundRobin(3), BestChannels(4, 5))] == [
        2, 3, 4
    ]  # fmt: skip


class Fixed(Participation):
    """Always the same devices."""

    def __init__(self, *clients):
        self.clients = np.array(clients)

    def size(self, population):
        return len(self.clients)

    def select(self, context):
        from fl import Selection

        return Selection(self.clients, context.weights[self.clients])


class Seen(Cotaf):
    """Records what clients sent."""

    def __init__(self):
        object.__setattr__(self, "server_step", 1.0)
        object.__setattr__(self, "updates", {})

    def aggregate(self, current, plan, updates, steps):
        for device, update in zip(current.clients.tolist(), updates, strict=True):
            self.updates[current.number, device] = update
        return super().aggregate(current, plan, updates, steps)


def test_what_a_device_draws_does_not_depend_on_the_others(problem):
    """Device 2 trains on the same samples, through the same channel, in whichever company."""
    alone, others = Seen(), Seen()
    link = OfdmLink(entry_snr_db=np.inf, fading=Tdl("A", speed=1.0), path_gain=[1, 2, 3, 4])
    options = {**OPTIONS, "steps": 3, "rounds": 1}
    train(alone, link, problem, participation=Fixed(2), **options)
    train(others, link, problem, participation=Fixed(0, 2, 3), **options)
    np.testing.assert_allclose(alone.updates[0, 2], others.updates[0, 2], atol=1e-6)


def test_options_of_a_device_go_with_its_index(problem):
    """Path gain, power and steps are one value per device of the population."""
    link = GaussianLink(snr_db=np.inf, path_gain=[1.0, 10.0, 100.0, 1000.0], power=[1, 2, 3, 4])
    seen = Seen()
    history = train(
        seen, link, problem, participation=Fixed(1, 3), **{**OPTIONS, "steps": [1, 2, 3, 4]},
        rounds=1,
    )  # fmt: skip
    assert history["steps"].tolist() == [[2, 4]]
    assert history["device"].tolist() == [[1, 3]]
    signals = [np.square(problem.weights[i] * seen.updates[0, i]).sum() for i in (1, 3)]
    taken = history["gain"][0] ** 2 * np.array(signals) / [10.0, 1000.0]
    np.testing.assert_allclose(history["energy"][0], taken, rtol=1e-4)
    np.testing.assert_allclose(history["load"][0], taken / [2, 4], rtol=1e-4)


def test_runs_with_the_same_selection_are_paired(problem):
    """Who is drawn does not depend on link or algorithm."""
    options = {**OPTIONS, "participation": RandomClients(2), "rounds": 5}
    one = train(Cotaf(), IdealLink(), problem, **options)
    other = train(Cotaf(), GaussianLink(), problem, **options)
    np.testing.assert_array_equal(one["device"], other["device"])
    assert len({tuple(row) for row in one["device"].tolist()}) > 1
    assert all(a < b for row in one["device"].tolist() for a, b in pairwise(row))


def test_a_population_too_small_is_refused(problem):
    with pytest.raises(ValueError, match="clients must be at most 4, the number of devices, got 5"):
        train(Cotaf(), IdealLink(), problem, rounds=1, participation=RandomClients(5))
    with pytest.raises(ValueError, match="participation must be a selection of clients, .*got 5"):
        train(Cotaf(), IdealLink(), problem, rounds=1, participation=5)
