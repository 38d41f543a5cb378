"""SCAFFOLD by hand on two parabolas, and what its second vector costs.

From x_0 = 0 at learning rate 1/4 with 1 and 2 steps, Delta = 1/4 and 9/4, x_1 = 5/4, and the means
of the gradients on the way are c_1 = -1 and c_2 = -9/2, so c = -11/4.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Cotaf,
    Deadline,
    FedAvg,
    RandomClients,
    Round,
    RoundRobin,
    Scaffold,
    Sgd,
    train,
)
from fl.api import Reception
from links import GaussianLink, IdealLink, OrthogonalLink
from tests.fl.problems import random_quadratics, run_parabolas
from tests.fl.runs import OPTIONS

QUIET = GaussianLink(snr_db=np.inf)


def controls(file):
    """Return c, the devices that have taken part, and their c_i."""
    with np.load(file) as saved:
        names = ("state/control", "device_state/device", "device_state/control")
        return [saved[f"0/{name}"] for name in names]


def test_two_rounds_by_hand(tmp_path):
    """Drifts -7/4 and 7/4. Client 1 goes from 5/4 to 13/8, client 2 by 7/16 and 7/32 to 61/32."""
    file = tmp_path / "run.npz"
    assert run_parabolas(Scaffold(), checkpoint=file).model[0] == pytest.approx(5 / 4)
    common, devices, own = controls(file)
    assert devices.tolist() == [0, 1]
    np.testing.assert_allclose(own[:, 0], [-1, -9 / 2], rtol=1e-12)
    np.testing.assert_allclose(common, [-11 / 4], rtol=1e-12)
    second = run_parabolas(Scaffold(), checkpoint=file, rounds=2)
    assert second.model[0] == pytest.approx(5 / 4 + (3 / 8 + 21 / 32) / 2, rel=1e-12)
    common, _, own = controls(file)  # the gradients on the way: 1/4; -7/2 and -21/8
    np.testing.assert_allclose(own[:, 0], [1 / 4, -49 / 16], rtol=1e-12)
    np.testing.assert_allclose(common, [(1 / 4 - 49 / 16) / 2], rtol=1e-12)


def test_each_half_takes_half_of_the_budget():
    """Halves (1/8, 9/8) and (-1/2, -9/4): r = 1/2, and the largest signal is (9/8, -9/8)."""
    history = run_parabolas(Scaffold(), QUIET)
    assert history["gain"][0] == pytest.approx(8 / 9 / np.sqrt(2), rel=1e-5)
    np.testing.assert_allclose(history["energy"][0], [5 / 162, 1], rtol=1e-5)
    assert history.model[0] == pytest.approx(5 / 4, rel=1e-5)
    alone = run_parabolas(Cotaf(), QUIET)
    assert alone["gain"][0] / history["gain"][0] == pytest.approx(np.sqrt(2), rel=1e-5)


def test_one_client_at_a_time(tmp_path):
    """|S| / N = 1/2: c = -1/2 after client 1; client 2 then steps to 7/4 and 5/2, c_2 = -4."""
    file = tmp_path / "run.npz"
    first = run_parabolas(Scaffold(), participation=RoundRobin(1), checkpoint=file)
    assert first.model[0] == pytest.approx(1 / 4)
    common, devices, own = controls(file)
    assert (common.tolist(), devices.tolist(), own.tolist()) == ([-1 / 2], [0], [[-1]])
    second = run_parabolas(Scaffold(), participation=RoundRobin(1), checkpoint=file, rounds=2)
    assert second.model[0] == pytest.approx(5 / 2, rel=1e-12)
    common, devices, own = controls(file)
    np.testing.assert_allclose(own[:, 0], [-1, -4], rtol=1e-12)
    np.testing.assert_allclose(common, [-5 / 2], rtol=1e-12)


def test_a_late_client_keeps_its_control_variate(tmp_path):
    """Client 2 needs two steps and has time for one: only client 1 counts."""
    file, slow = tmp_path / "run.npz", Deadline(0.1, 0.1, spread=0.0)
    history = run_parabolas(Scaffold(), deadline=slow, checkpoint=file)
    assert history["late"][0].tolist() == [False, True]
    assert history.model[0] == pytest.approx(1 / 4)
    common, devices, own = controls(file)
    assert (common.tolist(), devices.tolist(), own.tolist()) == ([-1 / 2], [0], [[-1]])
    # a gradient of -3/4 and a drift of 1/2; then c_1 = -3/4, and c moves by half of 1/4
    second = run_parabolas(Scaffold(), deadline=slow, checkpoint=file, rounds=2)
    assert second.model[0] == pytest.approx(1 / 4 + 1 / 16, rel=1e-12)
    common, devices, own = controls(file)
    assert devices.tolist() == [0]
    np.testing.assert_allclose(own, [[-3 / 4]], rtol=1e-12)
    np.testing.assert_allclose(common, [-3 / 8], rtol=1e-12)


def test_halves_of_different_sizes_on_a_link_without_budgets():
    """At eta = 0.001 updates are 500 times smaller than changes of c_i, and rounded as finely.

    Delta_1 = 0.001 and Delta_2 = 0.011988, so the step is 0.006494. With equal largest entries, 8
    bits round client 2 exactly and client 1 by at most 0.001 2/255, 0.12 % of the step.
    """
    history = run_parabolas(Scaffold(), OrthogonalLink(bits=8), sgd=Sgd(0.001, None))
    assert history.model[0] == pytest.approx(0.006494, rel=0.002)


@pytest.mark.parametrize("selection", [RandomClients(2), RandomClients(3, replacement=True)])
def test_c_is_the_mean_of_all_clients(selection, rng, tmp_path):
    """Devices that have never taken part count as zero."""
    problem, file = random_quadratics(rng, clients=5), tmp_path / "run.npz"
    seed = int(rng.integers(2**31))
    options = {"sgd": Sgd(0.05, None), "steps": [1, 2, 3, 4, 5], "seed": seed}
    train(Scaffold(), IdealLink(), problem, rounds=7, participation=selection, checkpoint=file,
          **options)  # fmt: skip
    common, _, own = controls(file)
    np.testing.assert_allclose(common, own.sum(axis=0) / 5, rtol=1e-9, atol=1e-12)


def test_it_reaches_the_minimum_where_averaging_does_not():
    """The minimum of F_1 + F_2 is at (1 + 2 3) / 3 = 7/3.

    FedAvg stops where sum_i w_i (a_i - x) = 0 with w_i = 1 - (1 - eta h_i)^tau_i: w = 1/4, 3/4 and
    x = 5/2 with 1 and 2 steps; w = 7/16, 3/4 and x = 43/19 with 2 steps each.
    """
    for steps, limit in (((1, 2), 5 / 2), ((2, 2), 43 / 19)):
        averaged = run_parabolas(FedAvg(), steps=steps, rounds=100).model[0]
        corrected = run_parabolas(Scaffold(), steps=steps, rounds=100).model[0]
        assert averaged == pytest.approx(limit, rel=1e-12)
        assert corrected == pytest.approx(7 / 3, rel=1e-12)


def test_it_reaches_the_minimum_of_any_quadratics(rng):
    problem = random_quadratics(rng, clients=4)
    options = {"sgd": Sgd(0.05, None), "steps": [1, 3, 2, 2], "rounds": 300}
    averaged = train(FedAvg(), IdealLink(), problem, **options)
    corrected = train(Scaffold(), IdealLink(), problem, **options)
    errors = [
        np.linalg.norm(run.model - problem.optimum(problem.weights))
        for run in (averaged, corrected)
    ]
    assert errors[1] < 1e-4 * np.linalg.norm(problem.optimum(problem.weights))
    assert errors[0] > 10 * errors[1]


def test_unequal_weights_do_not_move_its_fixed_point():
    """All clients count the same in c: 7/3, where F_1 + 3 F_2 has its minimum at (1 + 18) / 7."""
    heavy = run_parabolas(Scaffold(), samples=(1, 3), rounds=200).model[0]
    assert heavy == pytest.approx(7 / 3, rel=1e-9)


class NoisyUplink:
    """Adds known values to the sum that it delivers."""

    budget = np.array([[1.0], [np.inf]])

    def __init__(self, noise):
        self.noise = noise

    def energy(self, signals):
        return np.square(signals).sum(axis=1, keepdims=True)

    def load(self, signals):
        return (self.energy(signals) / self.budget)[:, 0]

    def max_gain(self, signals):
        return 1 / np.sqrt(self.load(signals).max())

    def send(self, signals, gain, *, weights=None, enforce=True):
        total = signals.sum(axis=0) + self.noise
        return Reception(total, gain**2 * self.energy(signals), {})


def test_noise_in_both_halves_and_that_it_stays_in_c():
    """Client 1, whose budget binds, sends (1, 0) / 2 and r (-4, 0) / 2: r = 1/4.

    Noise of 3 and 5 in the second half adds 12 and 20 to c. In the second round nobody moves, and
    c_i+ - c_i = -c = (-10, -19): client 1's updates are zero, so r = 1 and c becomes the noise.
    """
    uplink = NoisyUplink(np.array([1.0, 2.0, 3.0, 5.0]))
    current = Round(0, np.zeros(2), uplink, np.full(2, 0.5), np.array([1, 2]), 0.25)
    updates = np.array([[1.0, 0.0], [0.0, 1.0]])
    scaffold, steps = Scaffold(server_step=0.5), np.array([1, 2])
    first = scaffold.aggregate(current, scaffold.plan(current), updates, steps)
    np.testing.assert_allclose(first.model, [(0.5 + 1) / 2, (0.5 + 2) / 2])
    np.testing.assert_allclose(first.state["control"], [-2 + 12, -1 + 20])
    np.testing.assert_allclose(first.device_state["control"], [[-4, 0], [0, -2]])
    assert first.reception.energy[0] == pytest.approx(1)
    later = replace(current, number=1, state=first.state, device_state=first.device_state)
    np.testing.assert_allclose(scaffold.plan(later).drift, [[14, 19], [10, 21]])
    second = scaffold.aggregate(later, scaffold.plan(later), 0 * updates, steps)
    np.testing.assert_allclose(second.device_state["control"], [[-14, -19], [-10, -21]])
    # the mean of c_i is (-12, -20): the noise of both rounds is what c has beside it
    np.testing.assert_allclose(second.state["control"], [-12 + 12 + 3, -20 + 20 + 5])


def test_variance_of_the_noise_in_c(rng):
    """sigma_c^2 / (r gain)^2: updates of 1/2 and changes of -1/2 in all entries give r = 1."""
    size, sigma = 4000, 0.1
    uplink = GaussianLink(snr_db=20.0).open(2, 2 * size, rng)
    current = Round(0, np.zeros(size), uplink, np.full(2, 0.5), np.array([1, 1]), 1.0)
    ones, scaffold = np.ones((2, size)), Scaffold()
    outcome = scaffold.aggregate(current, scaffold.plan(current), ones, np.array([1, 1]))
    assert outcome.gain == pytest.approx(np.sqrt(4 / (2 * size)), rel=1e-5)
    variance = sigma**2 * 2 * size / 4
    for error in (outcome.state["control"] + 1, outcome.model - 1):
        assert abs(error.var() / variance - 1) < 5 * np.sqrt(2 / size)
        assert abs(error.mean()) < 5 * np.sqrt(variance / size)


def test_it_takes_twice_the_airtime(problem):
    link = GaussianLink()
    one, two = (train(each, link, problem, rounds=1, **OPTIONS) for each in (Cotaf(), Scaffold()))
    assert two["airtime"][0] == pytest.approx(2 * one["airtime"][0])


def test_refused():
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got 0"):
        Scaffold(server_step=0)
