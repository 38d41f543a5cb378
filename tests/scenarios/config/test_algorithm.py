"""The table ``algorithm``."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fl import (
    Acpc,
    Adsgd,
    ClippedFedAvg,
    Cotaf,
    FedAdam,
    FedAvg,
    FedAvgM,
    FedNova,
    FedProx,
    FedYogi,
    Scaffold,
    SignVote,
)
from scenarios import ScenarioError, load_scenario
from tests.scenarios.config.simple import SIMPLE, one, written


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("acpc", Acpc),
        ("adsgd", Adsgd),
        ("clipped-fedavg", ClippedFedAvg),
        ("cotaf", Cotaf),
        ("fedavg", FedAvg),
        ("fednova", FedNova),
        ("sign-vote", SignVote),
        ("fedprox", FedProx),
        ("fedavgm", FedAvgM),
        ("fedadam", FedAdam),
        ("fedyogi", FedYogi),
        ("scaffold", Scaffold),
    ],
)
def test_every_option_of_every_algorithm_has_a_key(name, algorithm):
    config = one(algorithm={"name": name}).algorithm
    assert config.build() == algorithm()
    assert config.settings().keys() == {"name", *(field.name for field in fields(algorithm))}


def test_an_algorithm_inside_another():
    table = {
        "name": "fedadam",
        "server_step": 0.1,
        "aggregation": {"name": "fedprox", "mu": 0.5, "aggregation": {"name": "acpc", "G": 2.0}},
    }
    config = one(algorithm=table).algorithm
    assert config.build() == FedAdam(FedProx(Acpc(G=2.0), mu=0.5), server_step=0.1)
    scenario = load_scenario({**SIMPLE, "algorithm": table})
    assert written(scenario).cells == scenario.cells


def test_the_algorithm_inside_can_be_swept():
    scenario = load_scenario({
        **SIMPLE,
        "algorithm": {"name": "fedavgm", "aggregation": {"name": "cotaf", "G": 2.0}},
        "sweep": {"algorithm.aggregation.name": ["cotaf", "acpc"]},
    })  # fmt: skip
    built = [cell.algorithm.build() for cell in scenario.cells]
    assert built == [FedAvgM(Cotaf()), FedAvgM(Acpc(G=2.0))]
    assert [axis.name for axis in scenario.sweep.axes] == ["aggregation"]


def test_a_wrong_option_inside_is_named_in_full():
    table = {"name": "fedprox", "aggregation": {"name": "cotaf", "margin": -1.0}}
    with pytest.raises(ScenarioError, match=r"algorithm\.aggregation\.margin must be a finite"):
        one(algorithm=table)


def test_options_of_cotaf_that_version_0_1_did_not_have_do_not_tell_cells_apart():
    same = one(algorithm={"name": "cotaf"}).algorithm.identity()
    assert same == {"name": "cotaf", "server_step": 1.0}
    other = one(algorithm={"name": "cotaf", "precoding": "expected"}).algorithm.identity()
    assert other == {"name": "cotaf", "server_step": 1.0, "precoding": "expected"}
