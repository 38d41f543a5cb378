"""What a study found, in every form it comes in."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil

import numpy as np
import pytest
from rich.console import Console
from scipy.io import loadmat

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.cellfile import CellFile
from scenarios.folder import Folder
from scenarios.results import Point, Results, comparison
from scenarios.show import as_json, rows, table_of, write_csv, write_mat
from tests.scenarios import small


def cell(folder, number):
    return CellFile.read(folder / "cells" / f"{number:04}.nc").variables


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
    (folder / "cells" / "0005.nc").unlink()
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


def test_rows(finished):
    found = json.loads(as_json(finished))
    assert [list(row) for row in found] == [
        ["algorithm.name", "training.rate", "accuracy_mean", "accuracy_std", "n", "diverged",
         "loss_mean"]
    ] * 4  # fmt: skip
    accuracies = [100 * cell(finished, number)["test_accuracy"][1].mean() for number in (6, 7)]
    last = found[3]
    assert (last["algorithm.name"], last["training.rate"], last["n"]) == ("cotaf", 0.5, 2)
    assert last["accuracy_mean"] == pytest.approx(np.mean(accuracies))
    assert last["accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1))


def test_accuracy_is_of_the_last_rounds(data_file, tmp_path):
    content = small.content(data_file, rounds=9, algorithm={"name": "cotaf"}, sweep={})
    content["training"] |= {"final_rounds": 5, "test_every": 2}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    tests = cell(folder, 0)["test_accuracy"][1]
    assert np.isnan(tests).tolist() == [True, False] * 4 + [True]
    assert float(open_study(folder)["accuracy"]) == pytest.approx((tests[5] + tests[7]) / 2)
    (row,) = rows(folder)
    assert row["loss_mean"] == pytest.approx(cell(folder, 0)["test_loss"][1][7])


def test_names_do_not_depend_on_progress(scenario, tmp_path):
    with Folder(tmp_path / "study").locked():
        Folder(tmp_path / "study").begin(scenario)
    study = open_study(tmp_path / "study")
    assert study["accuracy"].dims == ("algorithm", "training.rate", "seed")
    assert study["finished"].sum() == 0


def test_csv_is_the_same_table(finished, tmp_path):
    write_csv(finished, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert table == [{key: str(value) for key, value in row.items()} for row in rows(finished)]


def test_mat_has_all_metrics(finished, tmp_path):
    write_mat(finished, tmp_path / "study.mat")
    study, mat = open_study(finished), loadmat(tmp_path / "study.mat", simplify_cells=True)
    for name in study.data_vars:
        np.testing.assert_array_equal(mat["metrics"][name], study[name].values.squeeze())
    dims = [each.strip() for each in mat["dimensions"]["steps"]]
    assert dims == ["algorithm", "training.rate", "seed", "round", "client"]
    assert [each.strip() for each in mat["coordinates"]["algorithm"]] == ["acpc", "cotaf"]


def test_infinity_and_nan_are_json(data_file, tmp_path):
    sweep = {"link.snr_db": [10.0, float("inf")]}
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep=sweep)
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)

    def refuse(word):
        raise AssertionError(word)

    found = json.loads(as_json(folder), parse_constant=refuse)
    assert [row["link.snr_db"] for row in found] == [10.0, "inf"]
    assert [row["accuracy_std"] for row in found] == [None, None]
    assert [row["n"] for row in found] == [1, 1]


def test_diverged_runs_are_counted_and_not_averaged(data_file, tmp_path):
    wild = small.content(data_file, algorithm={"name": "fedavg"})
    wild["sweep"] = {"training.weight_decay": [0.0, 1e30], "seed": [0, 1]}
    folder = run_study(load_scenario(wild), tmp_path / "study", progress=False)
    kept, gone = rows(folder)
    assert (kept["n"], kept["diverged"]) == (2, 0)
    assert (gone["n"], gone["diverged"], gone["accuracy_mean"]) == (0, 2, None)
    assert "2 runs diverged" in _printed(table_of(folder))


def point(p, algorithm, mean, paper):
    labels = {"data.labels_per_client": p, "algorithm.name": algorithm}
    return Point(labels, (mean,), (), 1, 0, paper)


def test_comparison_by_hand():
    points = [
        point(1, "acpc", 80.0, 82.0),
        point(1, "cotaf", 60.0, 59.0),
        point(1, "fedavg", 70.0, 55.0),  # 15 off, and on the wrong side of cotaf
        point(2, "acpc", 90.0, 90.0),
        point(2, "cotaf", 91.0, 89.0),  # the wrong way round
    ]
    deviation, farthest, agree, total = comparison(points)
    assert deviation == pytest.approx((2 + 1 + 15 + 0 + 2) / 5)
    assert farthest is points[2]
    assert (agree, total) == (2, 4)
    assert comparison([point(1, "acpc", 80.0, None)]) is None


def test_the_paper_stands_beside_the_cells_it_speaks_of(data_file, tmp_path):
    paper = {
        "source": "a paper",
        "keys": ["algorithm.name", "link.snr_db"],
        "accuracy": [["acpc", 20.0, 50.0], ["cotaf", 20, 60.0], ["cotaf", 0, 10.0]],
    }
    content = small.content(data_file, paper=paper)
    content["sweep"] = {"algorithm.name": ["acpc", "cotaf", "fedavg"]}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    assert [each.paper for each in Results.read(folder).points()] == [50.0, 60.0, None]
    assert [row.get("paper") for row in rows(folder)] == [50.0, 60.0, None]
    write_csv(folder, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines()[0].endswith(",paper")
    text = _printed(table_of(folder))
    ours = rows(folder)[0]["accuracy_mean"]
    assert f"{ours - 50:+.2f}" in text
    assert "mean absolute deviation from the paper" in text
    assert "of 1 orderings" in text


def _printed(table):
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_table_says_what_is_not_finished(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    (folder / "cells" / "0000.nc").unlink()
    assert "not finished: 7 of 8 cells are done" in _printed(table_of(folder))
    assert "not finished" not in _printed(table_of(finished))


def test_no_study(tmp_path):
    with pytest.raises(ScenarioError, match="is not a study: it has no scenario.toml"):
        open_study(tmp_path)


def test_point_without_runs():
    empty = Point({}, (), (), 0, 0, None)
    assert math.isnan(empty.mean)
    assert math.isnan(empty.std)
