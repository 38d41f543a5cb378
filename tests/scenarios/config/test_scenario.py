"""Cells, batches and the resolved file of a scenario."""

from __future__ import annotations

import pytest

from fl import Acpc, Cotaf, FedAvg
from links import FadingLink, GaussianLink, IdealLink
from phy import NoisyCsi
from scenarios import load_scenario
from scenarios.config.library import bundled
from scenarios.config.scenario import BATCH_SIZE
from tests.scenarios.config.simple import SIMPLE, written


def test_cells_that_share_minibatches_are_run_together():
    sweep = {"link.snr_db": [0, 10], "seed": [0, 1], "algorithm.name": ["cotaf", "fedavg"]}
    scenario = load_scenario({**SIMPLE, "sweep": sweep})
    assert scenario.batches == [[0, 1, 4, 5], [2, 3, 6, 7]]
    for batch in scenario.batches:
        assert len({scenario.cells[number].seed for number in batch}) == 1
    long = load_scenario({**SIMPLE, "sweep": {"link.snr_db": list(range(30))}})
    assert sorted(number for batch in long.batches for number in batch) == list(range(30))
    assert [len(batch) for batch in long.batches] == [10, 10, 10]
    assert max(map(len, long.batches)) <= BATCH_SIZE


@pytest.mark.parametrize("name", bundled())
def test_the_resolved_file_says_the_same(name):
    scenario = load_scenario(name)
    resolved = scenario.resolved()
    again = written(scenario)
    assert again.cells == scenario.cells
    assert again.sweep.axes == scenario.sweep.axes
    assert again.paper == scenario.paper
    assert again.resolved() == resolved
    assert resolved["training"]["momentum"] == 0.0  # a default, written out


def test_resolved_with_choices_whose_defaults_differ():
    content = {**SIMPLE, "link": {}, "sweep": {"link.kind": ["fading", "ofdm"]}}
    scenario = load_scenario(content)
    assert "truncation" not in scenario.resolved()["link"]
    assert written(scenario).cells == scenario.cells
    assert [cell.link.truncation for cell in scenario.cells] == [0.0, 0.05]


def test_each_choice_of_a_sweep_takes_the_options_that_it_has():
    scenario = load_scenario(
        {
            "algorithm": {"G": 2.0, "server_step": 0.5},
            "link": {"truncation": 0.2, "snr_db": 5.0, "csi": {"kind": "noisy"}},
            "sweep": {
                "algorithm.name": ["acpc", "cotaf", "fedavg"],
                "link.kind": ["ideal", "gaussian", "fading"],
            },
        }
    )
    built = [(cell.algorithm.build(), cell.link.build()) for cell in scenario.cells]
    algorithms = [Acpc(G=2.0), Cotaf(0.5), FedAvg()]
    links = [
        IdealLink(),
        GaussianLink(snr_db=5.0),
        FadingLink(snr_db=5.0, truncation=0.2, csi=NoisyCsi()),
    ]
    assert built == [(algorithm, link) for algorithm in algorithms for link in links]
