"""Running the missing cells of a study."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, run_study
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, check_same, missing, path_of, start_study


def test_results_do_not_depend_on_the_number_of_processes(finished, scenario, tmp_path):
    check_same(finished, run_study(scenario, tmp_path / "two", workers=2, progress=False))


def test_what_is_there_is_not_run_again(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    before = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}
    run_study(scenario, folder, progress=False)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")} == before


def test_missing_and_damaged_cells_are_run_again(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    path_of(folder, 0).unlink()
    whole = path_of(folder, 3).read_bytes()
    path_of(folder, 3).write_bytes(whole[: len(whole) // 2])
    path_of(folder, 5).write_bytes(b"")
    better = np.ones_like(cell_of(folder, 6).variables["test_accuracy"][1])
    _forge(path_of(folder, 6), "test_accuracy", better)
    path_of(folder, 7).write_bytes(path_of(folder, 4).read_bytes())  # another cell's content
    assert missing(folder) == [0, 3, 5, 6, 7]
    run_study(scenario, folder, progress=False)
    check_same(finished, folder)


def _forge(path, name, values):
    """Change one metric of a cell, as somebody with an HDF5 editor would."""
    import h5py

    with h5py.File(path, "r+") as file:
        file[name][...] = values


def test_finished_cells_of_a_batch_are_left_alone(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    path_of(folder, 0).unlink()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}
    run_study(scenario, folder, progress=False)
    after = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}
    assert len(after) == 8
    assert after.items() > before.items()


def test_values_with_names_before_lists(data_file, tmp_path):
    """The file of a study has lists first; the study is the same for that."""
    sweep = {"link.power": {"a": 1.0, "b": 2.0}, "link.snr_db": [0, 10], "seed": [0, 1]}
    content = small.content(data_file, rounds=2, algorithm={"name": "cotaf"}, sweep=sweep)
    scenario = load_scenario(content)
    folder = run_study(scenario, tmp_path / "study", progress=False)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}
    run_study(scenario, folder, progress=False)
    content["sweep"] = dict(reversed(sweep.items()))  # written in another order, it is the same
    run_study(load_scenario(content), folder, progress=False)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")} == before
    for number, cell in enumerate(scenario.cells):
        kept = cell_of(folder, number).settings["link"]
        assert (kept["power"], kept["snr_db"]) == (cell.link.power, cell.link.snr_db)


def test_a_damaged_state_of_a_batch_is_no_hindrance(finished, scenario, tmp_path):
    folder = tmp_path / "study"
    study = start_study(scenario, folder)
    for batch in scenario.batches:
        digests = [scenario.cells[number].digest() for number in batch]
        checkpoint = study.checkpoint(digests, {})
        checkpoint.write_bytes(b"not a checkpoint")
    run_study(scenario, folder, progress=False)
    check_same(finished, folder)
    assert not list((folder / "underway").iterdir())


def test_a_scenario_is_asked_for(tmp_path):
    with pytest.raises(ScenarioError, match="scenario must be a Scenario, .*, got 3"):
        run_study(3, tmp_path / "out")
    assert not (tmp_path / "out").exists()
