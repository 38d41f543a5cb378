"""The dataset of a study."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.report.tables import rows
from scenarios.study.results import VARIABLES
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, path_of, start_study


def cell(folder, number):
    return cell_of(folder, number).variables


def test_the_dataset_has_every_metric_in_its_place(finished):
    study = open_study(finished)
    assert dict(study.sizes) == {
        "algorithm": 2,
        "training.rate": 2,  # "rate" is a metric
        "seed": 2,
        "round": 6,
        "client": 4,
        "symbol": 1,
    }
    assert study["algorithm"].values.tolist() == ["acpc", "cotaf"]
    assert study["round"].values.tolist() == [1, 2, 3, 4, 5, 6]
    place = {"algorithm": "cotaf", "training.rate": 0.3, "seed": 1}  # cell 4 + 0 + 1
    for name in ("test_accuracy", "gain", "steps", "energy", "symbol_load"):
        np.testing.assert_array_equal(study[name].sel(place).values, cell(finished, 5)[name][1])
    assert study["finished"].min() == 1
    tests = cell(finished, 5)["test_accuracy"][1]
    assert float(study["accuracy"].sel(place)) == pytest.approx(tests.mean())
    assert study["airtime"].attrs["units"] == "s"
    assert study["algorithm"].attrs["key"] == "algorithm.name"
    assert json.loads(study.attrs["made_with"][0])["numpy"] == np.__version__


def test_what_is_missing_is_nan(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    path_of(folder, 5).unlink()
    study = open_study(folder)
    place = {"algorithm": "cotaf", "training.rate": 0.3, "seed": 1}
    assert np.isnan(study["steps"].sel(place)).all()
    assert float(study["finished"].sel(place)) == 0
    assert float(study["finished"].sum()) == 7
    counts = {(row["algorithm.name"], row["training.rate"]): row["n"] for row in rows(folder)}
    assert counts == {("acpc", 0.3): 2, ("acpc", 0.5): 2, ("cotaf", 0.3): 1, ("cotaf", 0.5): 2}


def test_runs_of_different_size_share_a_dataset(data_file, tmp_path):
    sweep = {"data.clients": [2, 4], "training.rounds": [2, 3], "link.kind": ["gaussian", "ofdm"]}
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep=sweep)
    grid = {"fft_size": 8, "cp_length": 2, "guards": [1, 0], "dc_null": True}
    content["link"] = {"grid": grid, "fading": {"kind": "rayleigh"}, "entry_snr_db": 20.0}
    study = open_study(run_study(load_scenario(content), tmp_path / "study", progress=False))
    symbols = -(-52 // 12)
    assert dict(study.sizes) == {
        "clients": 2, "rounds": 2, "link": 2, "round": 3, "client": 4, "symbol": symbols
    }  # fmt: skip
    short = study.sel(clients=2, rounds=2, link="gaussian")
    assert np.isnan(short["steps"].values[2]).all()
    assert np.isnan(short["steps"].values[:, 2:]).all()
    assert np.isfinite(short["steps"].values[:2, :2]).all()
    assert np.isfinite(short["symbol_load"].values[:2, 0]).all()
    long = study.sel(clients=4, rounds=3, link="ofdm")
    assert np.isfinite(long["symbol_load"].values).all()


def test_accuracy_is_of_the_last_rounds(data_file, tmp_path):
    content = small.content(data_file, rounds=9, algorithm={"name": "cotaf"}, sweep={})
    content["training"] |= {"final_rounds": 5, "test_every": 2}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    tests = cell(folder, 0)["test_accuracy"][1]
    assert np.isnan(tests).tolist() == [True, False] * 4 + [False]
    assert float(open_study(folder)["accuracy"]) == pytest.approx(tests[[5, 7, 8]].mean())
    (row,) = rows(folder)
    assert row["loss_mean"] == pytest.approx(cell(folder, 0)["test_loss"][1][8])


def test_names_do_not_depend_on_progress(scenario, tmp_path):
    start_study(scenario, tmp_path / "study")
    study = open_study(tmp_path / "study")
    assert study["accuracy"].dims == ("algorithm", "training.rate", "seed")
    assert study["finished"].sum() == 0


def test_no_study(tmp_path):
    with pytest.raises(ScenarioError, match="is not a study: it has no scenario.toml"):
        open_study(tmp_path)


def test_variables_and_coordinates_have_units_and_long_names(finished):
    study = open_study(finished)
    for name in study.data_vars:
        attributes = study[name].attrs
        assert attributes["long_name"] == VARIABLES[name].label
        assert attributes["units"] == (VARIABLES[name].unit or "1")
        assert attributes["description"] == VARIABLES[name].meaning
    assert study["received_snr_db"].attrs["units"] == "dB"
    assert study["airtime"].attrs["long_name"] == "time on the air"
    rate = study["training.rate"].attrs
    assert rate == {"key": "training.rate", "long_name": "learning rate", "units": "1"}
    assert study["algorithm"].attrs == {"key": "algorithm.name", "long_name": "algorithm"}
    assert study["round"].attrs == {"long_name": "round", "units": "1"}


def test_a_swept_snr_is_in_decibels(data_file, tmp_path):
    content = small.content(data_file, rounds=1, algorithm={"name": "cotaf"})
    content["sweep"] = {"link.snr_db": [0.0, 10.0]}
    study = open_study(run_study(load_scenario(content), tmp_path / "study", progress=False))
    expected = {"key": "link.snr_db", "long_name": "SNR", "units": "dB"}
    assert study["snr_db"].attrs == expected


def test_devices_and_clients_share_a_dataset(data_file, tmp_path):
    """Four devices, of whom all, two or one take part."""
    sweep = {"participation.kind": ["everyone", "random"], "participation.clients": [1, 2]}
    content = small.content(data_file, rounds=3, algorithm={"name": "cotaf"}, sweep=sweep)
    study = open_study(run_study(load_scenario(content), tmp_path / "study", progress=False))
    assert dict(study.sizes) == {
        "participation": 2, "clients": 2, "round": 3, "client": 4, "symbol": 1, "population": 4
    }  # fmt: skip
    np.testing.assert_allclose(study["weight"], 0.25)
    two = study.sel(participation="random", clients=2)
    assert np.isnan(two["device"].values[:, 2:]).all()
    assert set(two["device"].values[:, :2].ravel()) <= {0, 1, 2, 3}
    np.testing.assert_allclose(two["client_weight"].sum("client"), 1)
    bias = study["participation_bias"]
    np.testing.assert_allclose(bias.sel(participation="everyone"), 0, atol=1e-12)
    counts = np.bincount(two["device"].values[:, :2].ravel().astype(int), minlength=4)
    expected = np.abs(counts / 6 - 0.25).sum() / 2
    assert float(bias.sel(participation="random", clients=2)) == pytest.approx(expected)


def test_the_best_accuracy_is_that_of_the_study_if_it_says_so(data_file, tmp_path):
    content = small.content(data_file, rounds=4, algorithm={"name": "cotaf"}, sweep={})
    content["training"] |= {"final_rounds": 1, "accuracy": "best"}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    tests = cell(folder, 0)["test_accuracy"][1]
    study = open_study(folder)
    assert float(study["accuracy"]) == float(study["best_accuracy"]) == tests.max()
    assert float(study["final_accuracy"]) == tests[-1]
