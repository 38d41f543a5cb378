"""COTAF, beyond what test_algorithms checks by hand.

Without noise, from x_0 = 0 with 1 and 2 steps, Delta = 1/4 and 9/4; then x_1 = 5/4, and the updates
are -1/16 and 21/16.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from fl import Cotaf, Deadline, Participation, RoundRobin, Selection, Sgd, train
from links import GaussianLink, IdealLink, OfdmLink
from tests.fl.problems import run_parabolas
from tests.fl.runs import OPTIONS, check_same

QUIET = {"snr_db": np.inf}


def test_cotaf_gain_is_that_of_the_paper(rng):
    """p_t = P / max ||Delta_i||^2, and the server divides by m sqrt(p_t)."""
    history = run_parabolas(Cotaf(), GaussianLink(**QUIET, power=1.0))
    assert history["gain"][0] == pytest.approx(2 * np.sqrt(1 / 2.25**2), rel=1e-5)


def expected_gains(rounds=3, margin=2.0, **options):
    cotaf = Cotaf(precoding="expected", margin=margin, **options)
    return run_parabolas(cotaf, GaussianLink(**QUIET), rounds=rounds)


def test_gain_by_expectation():
    """2 / sqrt(margin q): the norms themselves at first, then q_2 = 81/16 and 1737/512."""
    history = expected_gains()
    gains = [2 / (9 / 4), 2 / (sqrt(2) * 9 / 4), 2 / sqrt(2 * 1737 / 512)]
    np.testing.assert_allclose(history["gain"], gains, rtol=1e-5)
    assert not history["scaled_down"].any()
    check_same(
        run_parabolas(Cotaf(), IdealLink(), rounds=3),
        run_parabolas(Cotaf(precoding="expected"), IdealLink(), rounds=3),
    )


def test_without_a_margin_it_is_the_papers_expectation():
    """p_t = P / max_i q_i after one round, q_2 = 81/16; client 2 has less to send by then."""
    history = run_parabolas(Cotaf(precoding="expected"), GaussianLink(**QUIET), rounds=2)
    np.testing.assert_allclose(history["gain"], 2 / (9 / 4), rtol=1e-5)
    np.testing.assert_allclose(history["load"][1], [1 / 36**2, (7 / 12) ** 2], rtol=1e-5)


def test_a_window_of_one_round_remembers_the_last():
    gains = [2 / (9 / 4), 2 / (9 / 4 * sqrt(3)), 2 / (21 / 16 * sqrt(3))]
    history = expected_gains(window=1.0, margin=3.0)
    np.testing.assert_allclose(history["gain"], gains, rtol=1e-5)


def test_a_window_that_is_full_forgets():
    """A window of 3/2 rounds: q = 81/16, then 1/3 of it and 2/3 of 441/256."""
    mean = 81 / 16 / 3 + 2 * 441 / 256 / 3
    assert expected_gains(window=1.5)["gain"][2] == pytest.approx(2 / sqrt(2 * mean), rel=1e-5)


def test_a_client_beyond_its_expectation_scales_down():
    """A margin of 1/4 expects 9/8 of client 2: the gain is 16/9, and 21/16 is 7/6 of that."""
    history = expected_gains(rounds=2, margin=0.25)
    assert history["gain"][1] == pytest.approx(16 / 9, rel=1e-5)
    assert history["scaled_down"].tolist() == [[False, False], [False, True]]
    np.testing.assert_allclose(history["load"][1], [(16 / 9 / 32) ** 2, 1], rtol=1e-5)
    assert history.model[0] == pytest.approx(5 / 4 + (-1 / 16 + 21 / 16 * 6 / 7) / 2, rel=1e-5)


def test_each_device_has_an_expectation_of_its_own():
    """One client at a time: each counts with its norm at first, then with margin times that."""
    cotaf, link = Cotaf(precoding="expected", margin=2.0), GaussianLink(**QUIET)
    history = run_parabolas(cotaf, link, rounds=4, participation=RoundRobin(1))
    second = 3 / 4 * (3 - 1 / 4)
    gains = [4, 1 / second, 4 / sqrt(2), 1 / (sqrt(2) * second)]
    np.testing.assert_allclose(history["gain"], gains, rtol=1e-5)


class Joining(Participation):
    """Client 1 alone, and then both."""

    def size(self, population):
        return 2

    def select(self, context):
        clients = np.arange(1 if context.t == 0 else 2)
        return Selection(clients, np.full(len(clients), 0.5))


def test_a_newcomer_counts_with_its_norm_beside_one_that_is_known():
    """From 1/8 client 2 moves by 3/4 (3 - 1/8) = 69/32, and sets the gain with half of that."""
    cotaf, link = Cotaf(precoding="expected", margin=2.0), GaussianLink(**QUIET)
    history = run_parabolas(cotaf, link, rounds=2, participation=Joining())
    np.testing.assert_allclose(history["gain"], [8, 64 / 69], rtol=1e-5)
    assert not np.nansum(history["scaled_down"])


def test_a_late_client_neither_sets_the_gain_nor_learns():
    cotaf, link = Cotaf(precoding="expected", margin=2.0), GaussianLink(**QUIET)
    slow = Deadline(0.1, 0.1, spread=0.0)
    history = run_parabolas(cotaf, link, rounds=2, deadline=slow)
    np.testing.assert_allclose(history["gain"], [4, 4 / sqrt(2)], rtol=1e-5)


def test_updates_that_were_zero_before_expect_nothing():
    """At its own minimum a client has no update; then it counts as it is."""
    history = run_parabolas(
        Cotaf(precoding="expected"), GaussianLink(**QUIET), steps=1, rounds=2, sgd=Sgd(1e-30, None)
    )
    assert np.isfinite(history.model).all()


@pytest.mark.parametrize("margin", [0.5, 2.0])
@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_expected_gains_keep_every_budget(budget, margin, problem):
    cotaf = Cotaf(precoding="expected", margin=margin)
    link = OfdmLink(entry_snr_db=10.0, budget=budget)
    history = train(cotaf, link, problem, rounds=12, **OPTIONS)
    assert (history["load"] <= 1 + 1e-5).all()
    assert not history["scaled_down"][0].any()
    assert history["scaled_down"][1:].any() or margin > 1
    loads = history["load"][history["scaled_down"]]
    np.testing.assert_allclose(loads, 1, rtol=1e-5)


def test_refused():
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got -1"):
        Cotaf(server_step=-1)
    with pytest.raises(ValueError, match="precoding must be one of 'realised', 'expected', got"):
        Cotaf(precoding="mean")
    with pytest.raises(ValueError, match="margin must be a finite number > 0, got 0"):
        Cotaf(margin=0)
    with pytest.raises(ValueError, match="window must be a finite number >= 1, got 0"):
        Cotaf(window=0)
