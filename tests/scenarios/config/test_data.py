"""The table ``data``: datasets in files, and partitions."""

from __future__ import annotations

from scenarios import load_scenario
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
