"""FedProx by hand on two parabolas; see test_algorithms for the updates without it."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Acpc, Broadcast, Cotaf, FedAvg, FedNova, FedProx, Scaffold, Sgd, train
from links import GaussianLink, IdealLink, OfdmLink
from tests.fl.problems import run_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same


def test_a_round_by_hand():
    """Client 1 takes one step, at x_0: 1/4. Client 2: to 3/2, then by (3 - 3/2) / 4, mu = 1."""
    history = run_parabolas(FedProx(mu=1.0))
    assert history.model[0] == pytest.approx((1 / 4 + 15 / 8) / 2, rel=1e-12)
    heavy = run_parabolas(FedProx(mu=1.0), samples=(1, 3))
    assert heavy.model[0] == pytest.approx((1 / 4 + 3 * 15 / 8) / 4, rel=1e-12)


def test_fixed_point():
    """Delta_i = w_i (a_i - x) with w_i = (1 - (1 - eta (h_i + mu))^tau_i) h_i / (h_i + mu).

    h = 1, 2, a = 1, 3 and mu = 1: w = 1/4, 5/8 and x = (1/4 + 15/8) / (7/8) = 17/7, nearer to the
    minimum 7/3 than 5/2, to which mu = 0 leads.
    """
    assert run_parabolas(FedProx(mu=1.0), rounds=60).model[0] == pytest.approx(17 / 7, rel=1e-12)
    assert run_parabolas(FedProx(mu=0.0), rounds=60).model[0] == pytest.approx(5 / 2, rel=1e-12)


def test_the_term_is_about_what_the_client_received():
    """Client 2 receives x_0 + 1: to 2, then by (2 - 1) / 4; its update is 5/4."""

    class Shifted:
        def open(self, num_clients, length, rng, **options):
            return self

        def broadcast(self, vector):
            return Broadcast(np.stack([vector, vector + 1]), {})

    history = run_parabolas(FedProx(mu=1.0), downlink=Shifted())
    assert history.model[0] == pytest.approx((1 / 4 + 5 / 4) / 2, rel=1e-12)


def test_acpc_watches_proximal_updates():
    """With G = 4, Delta_i / tau_i must be at most 1: client 2 has 3/2, then 15/16, or 9/8 without.

    beta = sqrt(P) / (alpha_i eta G) = 2 sqrt(P) and alpha_i = 1/2.
    """
    link = GaussianLink(snr_db=np.inf, power=0.15)
    held = run_parabolas(FedProx(Acpc(G=4.0), mu=1.0), link)
    assert held["steps"][0].tolist() == [1, 2]
    assert not held["scaled_down"].any()
    assert held.model[0] == pytest.approx((1 / 4 + 15 / 16) / 2, rel=1e-5)
    free = run_parabolas(Acpc(G=4.0), link)
    assert free["scaled_down"][0].tolist() == [False, True]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_without_the_term_it_is_its_aggregation(name, problem):
    aggregation, link = ALGORITHMS[name], OfdmLink(entry_snr_db=10.0)
    alone = train(aggregation, link, problem, rounds=3, **OPTIONS)
    check_same(alone, train(FedProx(aggregation, mu=0.0), link, problem, rounds=3, **OPTIONS))


def test_the_term_holds_clients_back(problem):
    """||Delta_i|| after many steps is the smaller the larger mu is."""
    norms = []
    for mu in (0.0, 1.0, 10.0):
        options = {**OPTIONS, "steps": 30, "sgd": Sgd(0.05, None)}
        link = GaussianLink(snr_db=np.inf)
        history = train(FedProx(Cotaf(), mu=mu), link, problem, rounds=1, **options)
        norms.append(1 / history["gain"][0])
    assert norms[0] > norms[1] > norms[2]


@pytest.mark.parametrize("aggregation", [FedAvg(), FedNova(), Scaffold()], ids=repr)
def test_any_aggregation(aggregation):
    plain = run_parabolas(aggregation, IdealLink(), steps=(2, 2), rounds=2)
    held = run_parabolas(FedProx(aggregation, mu=1.0), IdealLink(), steps=(2, 2), rounds=2)
    assert 0 < held.model[0] < plain.model[0]


def test_refused():
    with pytest.raises(ValueError, match="mu must be a finite number >= 0, got -1"):
        FedProx(mu=-1)
    with pytest.raises(ValueError, match=r"aggregation must be an algorithm, such as Cotaf\(\)"):
        FedProx(aggregation=Cotaf)
