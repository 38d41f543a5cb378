"""The table ``data``: datasets in files, and partitions."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Population
from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.study.batch import check
from tests.scenarios import small
from tests.scenarios.config.simple import one, written


def test_a_seed_divides_the_data_anew(data_file):
    def shards(seed):
        content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={}, seed=seed)
        return load_scenario(content).cells[0].problem().shards

    assert [s.tolist() for s in shards(1)] == [s.tolist() for s in shards(1)]
    assert [s.tolist() for s in shards(1)] != [s.tolist() for s in shards(2)]


def test_a_dataset_in_files_is_found_from_anywhere(data_file, monkeypatch, tmp_path):
    monkeypatch.chdir(data_file.parent)
    scenario = load_scenario(small.content(data_file.name))
    monkeypatch.chdir(tmp_path)
    assert scenario.cells[0].data.name == str(data_file)
    assert written(scenario).cells == scenario.cells


def test_a_folder_called_mnist_is_not_mnist(monkeypatch, tmp_path):
    (tmp_path / "mnist").mkdir()
    monkeypatch.chdir(tmp_path)
    assert one().data.name == "mnist"


def test_standardised_data(data_file):
    """Measured, or by given numbers; another digest than the data as they are."""

    def cell(**table):
        content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
        return load_scenario({**content, "data": {**content["data"], **table}}).cells[0]

    plain, measured = cell(), cell(standardise=True)
    assert cell(standardise=False).digest() == plain.digest()
    assert "standardise" not in plain.identity()["data"]
    x = measured.problem().data.x_train
    assert x.mean() == pytest.approx(0, abs=1e-5)
    assert x.std() == pytest.approx(1, rel=1e-5)
    raw = plain.problem().data.x_train
    assert raw.dtype == np.uint8
    given = cell(standardise={"mean": 0.5, "deviation": 0.25})
    expected = (raw / np.float32(255) - 0.5) / 0.25
    np.testing.assert_allclose(given.problem().data.x_train, expected, atol=1e-5)
    half = cell(standardise={"mean": 0.5})
    assert half.problem().data.x_train.std() == pytest.approx(1, rel=1e-5)
    assert len({each.digest() for each in (plain, measured, given, half)}) == 4
    for table, message in (
        ({"mean": "small"}, "data.standardise.mean"),
        ({"means": 0.5}, "data.standardise.means"),
        ("yes", "data.standardise"),
    ):
        with pytest.raises(ScenarioError, match=message):
            cell(standardise=table)


def test_a_population_is_a_function_of_the_seed(data_file):
    def shards(seed, **table):
        data = {"name": str(data_file), "partition": "population", **table}
        content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
        content["data"] = data
        return load_scenario({**content, "seed": seed}).cells[0].problem().shards

    table = {"devices": 100_000, "samples": 10, "labels_per_device": 3}
    one, same, other = shards(1, **table), shards(1, **table), shards(2, **table)
    assert len(one) == 100_000
    assert len(one[99_999]) == 10
    assert one[99_999].tolist() == same[99_999].tolist() != other[99_999].tolist()
    assert one.labels_per_device == 3


def test_a_large_population_runs_and_is_checked_quickly(data_file, tmp_path, monkeypatch):
    """Neither the check before the study nor the stored cell grows with the devices."""
    drawn = []
    get = Population.__getitem__
    monkeypatch.setattr(
        Population, "__getitem__", lambda self, device: (drawn.append(device), get(self, device))[1]
    )
    data = {"name": str(data_file), "partition": "population", "devices": 100_000, "samples": 10}
    content = small.content(data_file, rounds=3, algorithm={"name": "cotaf"}, sweep={})
    content |= {"data": data, "participation": {"kind": "random", "clients": 5}}
    scenario = load_scenario(content)
    check([(scenario.cells[0], "")])
    assert len(drawn) == 5
    folder = run_study(scenario, tmp_path / "study", progress=False, workers=1)
    (file,) = (folder / "cells").iterdir()
    assert file.stat().st_size < 200_000
    study = open_study(folder)
    assert dict(study.sizes) == {"round": 3, "client": 5, "symbol": 1, "population": 100_000}
    for change, message in (
        ({"participation.clients": 200_000}, "participation.clients must be at most 100000, the n"),
        ({"data.samples": 1000}, "data.samples must be at most"),
        ({"data.labels_per_device": 5}, "data.labels_per_device must be at most 4"),
        ({"training.measure_gradient": True}, "training.measure_gradient must be False with a Pop"),
        ({"link.path_gain": [1.0] * 99_999}, "link.path_gain must be .*: client 99999 takes part"),
    ):
        with pytest.raises(ScenarioError, match=message):
            run_study(load_scenario(content, change), tmp_path / "other", progress=False)
