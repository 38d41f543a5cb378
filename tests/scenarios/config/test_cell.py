"""A cell: tables that must fit together."""

from __future__ import annotations

import pytest

from scenarios import ScenarioError
from tests.scenarios.config.simple import one


def test_a_cell_shares_its_minibatches_with_others_of_its_seed_data_and_training():
    cell = one()
    assert cell.shared() == one(link={"kind": "ideal"}, algorithm={"name": "fedavg"}).shared()
    for other in (one(seed=1), one(data={"clients": 5}), one(training={"rate": 0.2})):
        assert cell.shared() != other.shared()


def test_quadratics_need_their_data_and_their_model():
    problem = one(data={"partition": "quadratic"}, model={"name": "quadratic"}).problem()
    assert (problem.num_clients, problem.model.size) == (10, 20)
    for tables in ({"data": {"partition": "quadratic"}}, {"model": {"name": "quadratic"}}):
        with pytest.raises(ScenarioError, match="both must be 'quadratic', or neither"):
            one(**tables)


def test_the_digest_is_that_of_the_numbers_however_they_are_written():
    def digest(**tables):
        return one(**tables).digest()

    ten = digest(link={"kind": "gaussian", "snr_db": 10})
    assert ten == digest(link={"kind": "gaussian", "snr_db": 10.0})
    assert ten != digest(link={"kind": "gaussian", "snr_db": 10.5})
    assert ten != digest(link={"kind": "gaussian", "snr_db": 10.0}, seed=1)
    assert len(ten) == 20
