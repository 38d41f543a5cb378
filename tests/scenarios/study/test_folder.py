"""The directory of a study: what is refused, and what is left alone."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.errors import StudyError
from scenarios.study.folder import Folder
from tests.scenarios import small
from tests.scenarios.study.cells import check_same, path_of


def test_cells_that_changed_places_are_noticed_and_run_again(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    one, other = path_of(folder, 0), path_of(folder, 4)
    contents = one.read_bytes(), other.read_bytes()
    other.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert float(open_study(folder)["finished"].sum()) == 6
    check_same(finished, run_study(scenario, folder, progress=False))


def test_other_data_are_refused(tmp_path):
    data_file = small.write_data(tmp_path / "blobs.npz")
    content = small.content(data_file, rounds=1)
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    path_of(folder, 0).unlink()
    with np.load(data_file) as arrays:
        np.savez(data_file, **{**arrays, "y_train": arrays["y_train"][::-1]})
    with pytest.raises(ScenarioError, match="sha256"):
        run_study(load_scenario(content), folder, progress=False)
    assert float(open_study(folder)["finished"].sum()) == 7  # reading needs no data


def test_what_a_killed_process_left_is_no_hindrance(finished, scenario, tmp_path):
    folder = tmp_path / "study"
    (folder / "cells").mkdir(parents=True)
    left = [folder / "versions.json.1.part", folder / "cells" / "0000.nc.1.part"]
    for path in left:
        path.write_text("half")
    check_same(finished, run_study(scenario, folder, progress=False))
    assert not any(path.exists() for path in left)


def test_another_scenario_is_refused(finished, data_file, tmp_path):
    before = {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()}
    other = load_scenario(small.content(data_file), {"link.snr_db": 3.0, "data.clients": 5})
    with pytest.raises(ScenarioError) as error:
        run_study(other, finished, progress=False)
    assert "holds a study of another scenario" in str(error.value)
    assert "link.snr_db: there 20.0, here 3.0" in str(error.value)
    assert "data.clients: there 4, here 5" in str(error.value)
    assert {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()} == before


def test_another_title_is_not_another_scenario(finished, data_file, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    paper = {"source": "a", "keys": [], "accuracy": []}
    renamed = load_scenario(small.content(data_file, title="new", paper=paper))
    assert run_study(renamed, folder, progress=False) == folder
    assert open_study(folder).attrs["title"] == "new"


def test_a_directory_with_other_things_is_left_alone(scenario, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ScenarioError, match="new or empty directory, but contains thesis.tex"):
        run_study(scenario, tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_that_cannot_be_made(scenario, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match=r"file/study cannot be written: Not a directory"):
        run_study(scenario, tmp_path / "file" / "study", progress=False)


def test_two_processes_on_one_study(scenario, tmp_path):
    with (
        Folder(tmp_path / "study").locked(),
        pytest.raises(StudyError, match="is being run by another process"),
    ):
        run_study(scenario, tmp_path / "study", progress=False)
    run_study(scenario, tmp_path / "study", progress=False)
