"""Copied code repeats what is on the page."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from otafl.cli import main
from otafl.demo import scenario
from otafl.demo.scenario import ALGORITHMS, MODEL_SIZE, as_python, as_toml, scenario_of
from otafl.demo.setting import FADINGS, Setting
from otafl.demo.snapshot import snapshot
from otafl.demo.words import decibels
from scenarios import Scenario, open_study
from scenarios.study.batch import run_cells

SETTINGS = [
    Setting(),
    Setting(clients=2, payload="Gaussian", csi_error=0.05, seed=3),
    Setting(clients=7, carrier_offset=0.01, backoff_db=3.0, fading="TDL-C, 300 ns", seed=11),
    Setting(fading="none", truncation=1.0),  # nobody transmits
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_program_prints_the_nmse_of_the_page(setting):
    shown = snapshot(setting)
    program, printed, names = as_python(shown), io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(program, names)
    assert names["view"].nmse == pytest.approx(shown.nmse, rel=1e-6)
    expected = decibels(shown.nmse).replace("&minus;", "-")
    assert printed.getvalue() in (f"NMSE {expected}\n", f"NMSE -{expected}\n")  # -0.0 dB
    assert names["link"] == setting.link()
    assert "import otafl" in program


@pytest.mark.parametrize("fading", FADINGS)
@pytest.mark.parametrize("faults", [{}, {"carrier_offset": 0.01}, {"backoff_db": -2.0}])
def test_the_scenario_has_the_link_of_the_page(fading, faults):
    setting = Setting(clients=3, fading=fading, csi_error=0.1, seed=5, **faults)
    study = Scenario.read(scenario_of(setting))
    assert {cell.link.build() for cell in study.cells} == {setting.link(correction="active")}
    assert [cell.algorithm.choice for cell in study.cells] == list(ALGORITHMS)
    assert len(study.batches) == 1  # all train on the same minibatches
    assert {cell.seed for cell in study.cells} == {5}


def test_otafl_run_repeats_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr(scenario, "ROUNDS", 3)
    setting = Setting(clients=3, backoff_db=6.0, entry_snr_db=0.0, seed=4)
    told = []
    run_cells(
        Scenario.read(scenario_of(setting)).cells,
        None,
        lambda number, rows: told.append([row["test_accuracy"] for row in rows]),
    )
    file = tmp_path / "page.toml"
    file.write_text(as_toml(setting), encoding="utf-8")
    assert main(["run", str(file), "--out", str(tmp_path / "study"), "--workers", "1"]) == 0
    stored = open_study(tmp_path / "study").test_accuracy.squeeze().transpose("round", ...)
    np.testing.assert_allclose(stored.values, told)


@pytest.mark.parametrize("clients", [1, 3, 20])
def test_together_the_clients_hold_all_digits(clients):
    study = Scenario.read(scenario_of(Setting(clients=clients)))
    problem = study.cells[0].problem()
    assert problem.num_clients == clients
    assert problem.model.size == MODEL_SIZE
    held = np.concatenate([problem.data.y_train[shard] for shard in problem.shards])
    assert set(held) == set(range(10))
