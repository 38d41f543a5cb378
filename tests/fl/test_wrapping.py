"""A wrapped algorithm finds its own state and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Acpc, Cotaf, FedAdam, FedAvgM, FedProx, Round, train_together
from fl.wrapping import check_aggregation, inner_round, inner_state
from links import GaussianLink, IdealLink
from tests.fl.runs import OPTIONS, check_same


def test_state_goes_in_and_out():
    uplink = IdealLink().open(2, 3, np.random.default_rng(1))
    state = {"m": np.ones(3), "aggregation/m": np.zeros(3), "aggregation/aggregation/v": np.ones(1)}
    current = Round(4, np.zeros(3), uplink, np.full(2, 0.5), np.array([1, 2]), 0.1, state)
    inner = inner_round(current)
    assert inner.state.keys() == {"m", "aggregation/v"}
    assert not inner.state["m"].any()
    assert inner_state(inner.state).keys() == {"aggregation/m", "aggregation/aggregation/v"}
    assert inner_round(inner).state.keys() == {"v"}
    assert inner.number == 4
    assert inner.uplink is uplink


def test_an_algorithm_with_state_inside_two_others(problem):
    """ACPC's gain of a round follows from its own state of the round before."""
    acpc, link = Acpc(beta="previous"), GaussianLink(snr_db=10.0)
    wrapped = FedAvgM(FedProx(FedAvgM(acpc, beta1=0.0), mu=0.0), beta1=0.0)
    runs = [(acpc, link), (wrapped, link)]
    alone, inside = train_together(runs, problem, rounds=4, **OPTIONS)
    check_same(alone, inside, rtol=1e-5)
    assert alone["gain"][3] != alone["gain"][2] != alone["gain"][1]


def test_only_algorithms_are_wrapped():
    check_aggregation(FedAdam(Cotaf()))
    with pytest.raises(ValueError, match=r"aggregation must be an algorithm, such as Cotaf\(\)"):
        check_aggregation(IdealLink())
