"""A batch as an engine is handed it."""

from __future__ import annotations

import hashlib
import shutil
import sys

import pytest

from scenarios import ScenarioError, load_scenario
from scenarios.config.data import files_digest
from scenarios.study.cellfile import CellFile
from scenarios.study.task import ChangedCodeError, Task, data_files, relocated, run_task
from tests.scenarios import small, user_files
from tests.scenarios.config.simple import one
from tests.scenarios.study.cells import cell_of


@pytest.fixture
def own_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])


def nothing(number, rows):
    """Take no notice of a round."""


def read(contents):
    return [CellFile.from_bytes(content, "task") for content in contents]


def check_equal(done, expected):
    assert done.settings == expected.settings
    assert done.variables.keys() == expected.variables.keys()
    for name, (_, values) in expected.variables.items():
        assert done.variables[name][1].tobytes() == values.tobytes(), name


def test_it_is_one_line_of_plain_data(scenario):
    task = Task(
        cells=[cell.settings() for cell in scenario.cells[:2]],
        code={"größe.py": "ab"},
        files={"größe.py": "/a folder/größe.py"},
        data={"cd": "/data"},
        checkpoint="/study/underway/x.npz",
        keep_state=True,
    )
    assert "\n" not in task.to_json()
    assert Task.from_json(task.to_json()) == task
    assert Task.from_json(Task(cells=[]).to_json()) == Task(cells=[])


def test_infinity_is_among_the_settings(data_file):
    content = small.content(data_file, link={"kind": "gaussian", "snr_db": float("inf")})
    task = Task(cells=[load_scenario(content).cells[0].settings()])
    again = Task.from_json(task.to_json())
    assert again.cells[0]["link"]["snr_db"] == float("inf")
    assert again.rounds == 6


def test_the_cells_of_a_batch_are_those_of_the_study(scenario, finished):
    batch, rounds = scenario.batches[1], []
    task = Task(cells=[scenario.cells[number].settings() for number in batch])
    task = Task.from_json(task.to_json())
    contents = run_task(task, lambda number, rows: rounds.append((number, len(rows))))
    assert rounds == [(number, 2) for number in range(6)]
    for number, done in zip(batch, read(contents), strict=True):
        check_equal(done, cell_of(finished, number))
        assert done.name == scenario.cells[number].digest()


def test_data_that_are_elsewhere_are_found_and_the_study_keeps_the_driver_s_path(
    scenario, finished, data_file, tmp_path
):
    moved = tmp_path / "worker" / "copy.npz"
    moved.parent.mkdir()
    shutil.copy(data_file, moved)
    settings = scenario.cells[0].settings()
    settings["data"] = {**settings["data"], "name": "/no/such/place/blobs.npz"}
    task = Task(cells=[settings], data={settings["data"]["sha256"]: str(moved)})
    (done,) = read(run_task(task, nothing))
    assert done.settings["data"]["name"] == "/no/such/place/blobs.npz"
    assert done.name == scenario.cells[0].digest()  # a file counts by its content
    assert done.accuracy() == pytest.approx(cell_of(finished, 0).accuracy(), abs=1e-5)


def test_data_that_are_not_there_are_said_to_be_missing(scenario):
    settings = scenario.cells[0].settings()
    settings["data"] = {**settings["data"], "name": "/no/such/place/blobs.npz"}
    with pytest.raises(FileNotFoundError, match=r"^/no/such/place/blobs.npz cannot be read"):
        run_task(Task(cells=[settings]), nothing)


def test_other_data_of_the_same_name_are_refused(scenario, data_file):
    settings = scenario.cells[0].settings()
    settings["data"] = {**settings["data"], "sha256": "0" * 64}
    with pytest.raises(ScenarioError, match=f"blobs.npz has changed: its sha256 was {'0' * 64}"):
        run_task(Task(cells=[settings]), nothing)


@pytest.fixture
def users(tmp_path, own_path):
    """A task with an algorithm of the user's, and the folder of its files."""
    folder = user_files.write_all(tmp_path)
    algorithm = {"name": f"{folder}/vote.py:Vote", "server_step": 0.01}
    data = {"name": f"{folder}/parts.py:Blobs", "clients": 2, "labels_per_client": 4}
    content = user_files.content(algorithm=algorithm, data=data, model={}, link={"kind": "ideal"})
    (cell,) = load_scenario(content).cells
    files = {name: str(folder / name) for name in ("vote.py", "helper.py", "parts.py")}
    return Task(cells=[cell.settings()], code=cell.all_code(), files=files), folder


def test_the_user_s_files_are_found_where_the_task_says(users):
    task, folder = users
    assert task.cells[0]["algorithm"]["name"] == "vote.py:Vote"
    (done,) = read(run_task(Task.from_json(task.to_json()), nothing))
    names = ["helper.py", "parts.py", "vote.py"]
    assert done.code == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names
    }


@pytest.mark.parametrize("name", ["vote.py", "helper.py", "parts.py"])
def test_files_that_have_changed_in_the_meantime_are_refused(name, users):
    task, folder = users
    with (folder / name).open("a") as file:
        file.write("# a remark\n")
    with pytest.raises(ChangedCodeError, match=f"^{name} has changed while the study was running$"):
        run_task(task, nothing)


def test_a_checkpoint_is_written_and_resumed_from(scenario, tmp_path):
    settings = [scenario.cells[number].settings() for number in scenario.batches[0]]
    checkpoint = tmp_path / "underway.npz"
    whole = run_task(Task(cells=settings), nothing)
    shorter = [{**each, "training": {**each["training"], "rounds": 4}} for each in settings]
    run_task(Task(cells=shorter, checkpoint=str(checkpoint), keep_state=True), nothing)
    rounds = []
    task = Task(cells=settings, checkpoint=str(checkpoint), keep_state=True)
    contents = run_task(task, lambda number, rows: rounds.append(number))
    assert rounds == [4, 5]
    for done, expected in zip(read(contents), read(whole), strict=True):
        check_equal(done, expected)


def test_files_are_relocated_by_their_content():
    settings = {
        "data": {"name": "/here/a.npz", "sha256": "aa"},
        "link": {"fading": {"kind": "cir", "file": "/here/b.npz", "sha256": "bb"}, "power": [1, 2]},
        "model": {"name": "logistic", "sha256": ""},
        "seed": 3,
    }
    moved = relocated(settings, {"aa": "/there/a", "bb": "/there/b"})
    assert moved == {
        "data": {"name": "/there/a", "sha256": "aa"},
        "link": {"fading": {"kind": "cir", "file": "/there/b", "sha256": "bb"}, "power": [1, 2]},
        "model": {"name": "logistic", "sha256": ""},
        "seed": 3,
    }
    assert settings["data"]["name"] == "/here/a.npz"
    assert relocated(settings, {}) == settings


def test_the_data_files_of_a_cell_are_those_that_its_tables_name(scenario, data_file):
    sha256 = files_digest(data_file)
    assert data_files(scenario.cells[0]) == {sha256: str(data_file)}
    assert data_files(one()) == {}  # a dataset by name is no file
