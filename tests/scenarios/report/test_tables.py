"""A study as a table, as JSON, CSV and MATLAB file."""

from __future__ import annotations

import csv
import io
import json
import shutil

import numpy as np
import pytest
from rich.console import Console
from scipy.io import loadmat

from scenarios import load_scenario, open_study, run_study
from scenarios.report.tables import as_json, rows, table_of, write_csv, write_mat
from scenarios.study.results import Results
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, path_of


def cell(folder, number):
    return cell_of(folder, number).variables


def test_rows(finished):
    found = json.loads(as_json(finished))
    assert [list(row) for row in found] == [
        ["algorithm.name", "training.rate", "accuracy_percent", "accuracy_std_percent",
         "n", "diverged", "loss_mean"]
    ] * 4  # fmt: skip
    accuracies = [100 * cell(finished, number)["test_accuracy"][1].mean() for number in (6, 7)]
    last = found[3]
    assert (last["algorithm.name"], last["training.rate"], last["n"]) == ("cotaf", 0.5, 2)
    assert last["accuracy_percent"] == pytest.approx(np.mean(accuracies))
    assert last["accuracy_std_percent"] == pytest.approx(np.std(accuracies, ddof=1))


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
    assert [row["accuracy_std_percent"] for row in found] == [None, None]
    assert [row["n"] for row in found] == [1, 1]


def test_diverged_runs_are_counted_and_not_averaged(data_file, tmp_path):
    wild = small.content(data_file, algorithm={"name": "fedavg"})
    wild["sweep"] = {"training.weight_decay": [0.0, 1e30], "seed": [0, 1]}
    folder = run_study(load_scenario(wild), tmp_path / "study", progress=False)
    kept, gone = rows(folder)
    assert (kept["n"], kept["diverged"]) == (2, 0)
    assert (gone["n"], gone["diverged"], gone["accuracy_percent"]) == (0, 2, None)
    assert "2 runs diverged" in _printed(table_of(folder))


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
    assert [row.get("paper_percent") for row in rows(folder)] == [50.0, 60.0, None]
    write_csv(folder, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines()[0].endswith(",paper_percent")
    text = _printed(table_of(folder))
    ours = rows(folder)[0]["accuracy_percent"]
    assert f"{ours - 50:+.2f}" in text
    assert "mean absolute deviation from the paper" in text
    assert "of 1 orderings" in text


def _printed(table):
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_table_says_what_is_not_finished(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    path_of(folder, 0).unlink()
    assert "not finished: 7 of 8 cells are done" in _printed(table_of(folder))
    assert "not finished" not in _printed(table_of(finished))


def test_a_key_that_does_not_apply_makes_no_rows_of_its_own(data_file, tmp_path):
    """COTAF has no G: one row for it, with no value there, and its runs are run once."""
    sweep = {"algorithm.name": ["acpc", "cotaf"], "algorithm.G": [0.5, 1.0], "seed": [0, 1]}
    content = small.content(data_file, rounds=1, sweep=sweep, algorithm={})
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    found = [(row["algorithm.name"], row["algorithm.G"], row["n"]) for row in rows(folder)]
    assert found == [("acpc", 0.5, 2), ("acpc", 1.0, 2), ("cotaf", "-", 2)]
    assert len(list((folder / "cells").iterdir())) == 6
    assert Results.read(folder).counts == (6, 6)


def test_a_study_of_the_best_accuracy_shows_the_final_one_beside_it(data_file, tmp_path):
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
    content["training"] |= {"final_rounds": 3, "accuracy": "best"}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    tests = 100 * cell(folder, 0)["test_accuracy"][1]
    (row,) = rows(folder)
    assert row["accuracy_percent"] == pytest.approx(tests.max())
    assert row["final_accuracy_percent"] == pytest.approx(tests[-3:].mean())
    text = _printed(table_of(folder))
    for part in ("best [%]", "final [%]", f"{tests.max():.2f}", f"{tests[-3:].mean():.2f}"):
        assert part in text


def test_the_bias_is_shown_where_some_take_part(data_file, tmp_path, finished):
    sweep = {"participation.kind": ["everyone", "random"]}
    content = small.content(data_file, rounds=3, algorithm={"name": "cotaf"}, sweep=sweep)
    content["participation"] = {"clients": 1}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    everyone, some = rows(folder)
    assert everyone["participation_bias"] == pytest.approx(0, abs=1e-12)
    assert 0.25 <= some["participation_bias"] <= 0.75  # three draws of one device of four
    text = _printed(table_of(folder))
    assert "bias [%]" in text
    assert f"{100 * some['participation_bias']:.1f}" in text
    assert "bias" not in _printed(table_of(finished))


def test_readings_of_the_same_published_values_are_compared_one_by_one(data_file, tmp_path):
    paper = {
        "source": "a paper",
        "keys": ["algorithm.name"],
        "accuracy": [["fedavg", 50.0]],
        "readings": ["models", "updates"],
    }
    content = small.content(data_file, rounds=2, paper=paper, algorithm={"name": "fedavg"})
    variants = {"models": {"algorithm.sends": "models"}, "updates": {"algorithm.sends": "updates"}}
    content["sweep"] = {"variant": variants}
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    text = _printed(table_of(folder))
    for row in rows(folder):
        deviation = abs(row["accuracy_percent"] - 50)
        expected = f"with {row['variant']}: mean absolute deviation from the paper {deviation:.2f}"
        assert expected in text
