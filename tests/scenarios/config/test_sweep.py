"""The sweep of a scenario."""

from __future__ import annotations

import numpy as np
import pytest

from phy import Rayleigh, Tdl
from phy.impairments import (
    Rapp,
)
from scenarios import ScenarioError, load_scenario
from tests.scenarios.config.simple import SIMPLE, written


def test_the_sweep_is_a_product_whose_last_key_runs_fastest():
    scenario = load_scenario(
        {**SIMPLE, "sweep": {"link.snr_db": [0, 10], "seed": [3, 4, 5], "training.rounds": [2]}}
    )
    places = [(cell.link.snr_db, cell.seed) for cell in scenario.cells]
    assert places == [(0, 3), (0, 4), (0, 5), (10, 3), (10, 4), (10, 5)]
    assert scenario.sweep.shape == (2, 3, 1)
    assert scenario.sweep.labels_of(4) == {"link.snr_db": 10, "seed": 4, "training.rounds": 2}


def test_a_sweep_from_python_may_be_a_range_or_an_array():
    sweep = {"seed": range(2), "link.snr_db": np.linspace(0, 1, 3), "data.clients": np.arange(5, 7)}
    scenario = load_scenario({**SIMPLE, "sweep": sweep})
    assert [axis.labels for axis in scenario.sweep.axes] == [(0, 1), (0.0, 0.5, 1.0), (5, 6)]
    assert written(scenario).cells == scenario.cells


def test_values_with_names():
    sweep = {
        "link.fading": {"flat": {"kind": "rayleigh"}, "long": {"kind": "tdl", "model": "C"}},
        "link.power": {"equal": 1.0, "unequal": [1.0, 2.0]},
    }
    scenario = load_scenario({**SIMPLE, "link": {"kind": "ofdm"}, "sweep": sweep})
    assert [axis.labels for axis in scenario.sweep.axes] == [("flat", "long"), ("equal", "unequal")]
    built = [cell.link.build() for cell in scenario.cells]
    assert [link.fading for link in built] == [Rayleigh(), Rayleigh(), Tdl("C"), Tdl("C")]
    assert [link.power for link in built] == [1.0, (1.0, 2.0)] * 2


def test_the_order_of_the_cells_is_that_of_the_file():
    fadings = {"flat": {"kind": "rayleigh"}, "long": {"kind": "tdl"}}
    sweep = {"link.fading": fadings, "link.snr_db": [0, 10], "seed": [0, 1]}
    scenario = load_scenario({**SIMPLE, "link": {"kind": "ofdm"}, "sweep": sweep})
    assert [axis.key for axis in scenario.sweep.axes] == ["link.snr_db", "seed", "link.fading"]
    assert written(scenario).cells == scenario.cells
    assert written(scenario).sweep.axes == scenario.sweep.axes


def test_variants_set_several_keys_at_once():
    variants = {
        "ACPC, 6 dB more power": {
            "algorithm.name": "acpc", "algorithm": {"G": 2.0}, "link.power": 4.0
        },
        "COTAF": {"algorithm.name": "cotaf"},
    }  # fmt: skip
    content = {**SIMPLE, "algorithm": {"G": 1.0}, "sweep": {"variant": variants, "seed": [0, 1]}}
    scenario = load_scenario(content)
    assert [axis.name for axis in scenario.sweep.axes] == ["seed", "variant"]
    found = [
        (cell.seed, cell.algorithm.choice, cell.settings()["link"]["power"])
        for cell in scenario.cells
    ]
    assert found == [(0, "acpc", 4.0), (0, "cotaf", 1.0), (1, "acpc", 4.0), (1, "cotaf", 1.0)]
    assert scenario.cells[0].algorithm.G == 2.0
    assert written(scenario).cells == scenario.cells
    assert written(scenario).sweep == scenario.sweep


def test_too_many_cells():
    sweep = {f"link.{key}": list(range(1, 200)) for key in ("power", "path_gain", "snr_db")}
    with pytest.raises(ScenarioError, match="at most 100000 cells, got 7880599"):
        load_scenario({**SIMPLE, "sweep": sweep})


def test_a_sweep_over_hardware_with_names():
    content = {
        **SIMPLE,
        "link": {"kind": "waveform", "receive": {"adc": {"bits": 8}}},
        "sweep": {
            "link.transmit.rapp.backoff_db": [10.0, 3.0],
            "seed": [0],
        },
    }
    scenario = load_scenario(content)
    assert [cell.link.build().transmit for cell in scenario.cells] == [(Rapp(10.0),), (Rapp(3.0),)]
    assert [axis.name for axis in scenario.sweep.axes] == ["rapp_backoff_db", "seed"]
    content["sweep"] = {"link.transmit": {"clean": {}, "cheap": {"rapp": {"backoff_db": 1.0}}}}
    scenario = load_scenario(content)
    assert [cell.link.build().transmit for cell in scenario.cells] == [(), (Rapp(1.0),)]
    assert written(scenario).cells == scenario.cells
