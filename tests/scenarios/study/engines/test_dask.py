"""The Dask engine as far as it needs no cluster; tests/system/test_dask.py has the rest."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest

from fl import load_dataset
from scenarios import load_scenario, run_study
from scenarios.config.data import files_digest
from scenarios.errors import ScenarioError
from scenarios.study.cellfile import CellFile
from scenarios.study.engines.dask import _job, _task_files, dask_engine
from scenarios.study.task import Task, data_files, relocated, run_task
from tests.scenarios import small

FILES = ("ca_file", "cert", "key")


@pytest.fixture
def certificates(tmp_path):
    for name in FILES:
        (tmp_path / name).touch()
    return {name: str(tmp_path / name) for name in FILES}


def test_without_dask_it_says_what_to_install(monkeypatch, data_file, tmp_path):
    real = builtins.__import__

    def without(name, *rest):
        if name == "distributed":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    expected = r"the Dask engine needs distributed: pip install 'otafl\[dask\]'$"
    with pytest.raises(ScenarioError, match=expected):
        run_study(small.content(data_file), tmp_path / "study", engine="dask")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("address", ["", "localhost:8786", "tcp://host", "ucx://host:1", 8786])
def test_addresses_that_are_none(address):
    with pytest.raises(ValueError, match="scheduler must be tcp://HOST:PORT or tls://HOST:PORT"):
        dask_engine(1, address, None)


def test_certificates_and_addresses_go_together(certificates):
    dask_engine(1, "tls://host:8786", certificates)
    with pytest.raises(ValueError, match="security must be files for a tls:// scheduler: ca_file"):
        dask_engine(1, "tls://host:8786", None)
    with pytest.raises(ValueError, match="security must be left out with a tcp:// scheduler"):
        dask_engine(1, "tcp://host:8786", certificates)
    with pytest.raises(ValueError, match="security must be left out without a scheduler"):
        dask_engine(1, None, certificates)


@pytest.mark.parametrize("name", FILES)
def test_certificates_that_are_missing(certificates, name):
    wrong = {**certificates, name: "/nowhere/file.pem"}
    with pytest.raises(ValueError, match=f"security.{name} must be an existing file, got"):
        dask_engine(1, "tls://host:8786", wrong)
    del wrong[name]
    with pytest.raises(ValueError, match="security must be files for a tls:// scheduler"):
        dask_engine(1, "tls://host:8786", wrong)
    with pytest.raises(ValueError, match="security must be one of 'ca_file', 'cert', 'key'"):
        dask_engine(1, "tls://host:8786", {**certificates, "kye": "x"})


@pytest.mark.parametrize("option", [{"scheduler": "tcp://host:1"}, {"security": {}}])
def test_the_local_engine_takes_none_of_it(data_file, tmp_path, option):
    with pytest.raises(ScenarioError, match="must be left out with engine = 'local'"):
        run_study(small.content(data_file), tmp_path / "study", **option)


def test_nothing_to_do_starts_nothing():
    assert list(dask_engine(2, None, None)([])) == []


def test_a_job_has_no_paths_of_the_driver(data_file, tmp_path):
    state = tmp_path / "state.npz"
    files, data = {"mine.py": str(tmp_path / "mine.py")}, {"0" * 64: str(data_file)}
    task = Task([{"seed": 0}], files=files, data=data, checkpoint=str(state))
    assert _job(3, task, "me").state is None
    state.write_bytes(b"state")
    job = _job(3, task, "me")
    assert (job.number, job.session, job.state) == (3, "me", b"state")
    assert str(tmp_path) not in job.task


def test_a_directory_of_data_travels(data_file, tmp_path):
    """As a folder of IDX files does; only the files that its digest counts."""
    folder = tmp_path / "data"
    (folder / "deeper").mkdir(parents=True)
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"23")
    (folder / "deeper" / "c").write_bytes(b"4")
    places = {files_digest(path): str(path) for path in (folder, data_file)}
    files_of_tasks = _task_files([Task([], data=places)])
    there = tmp_path / "there"
    there.mkdir()
    for _ in range(2):  # the second time they are there
        found = files_of_tasks.write_data(there)
    assert found.keys() == places.keys()
    for sha256, path in found.items():
        assert Path(path).is_relative_to(there)
        assert files_digest(Path(path)) == sha256
    there_too = load_dataset(found[files_digest(data_file)])
    np.testing.assert_array_equal(there_too.x_train, load_dataset(str(data_file)).x_train)
    assert len(list(there.iterdir())) == 2


def test_python_files_travel_byte_by_byte(tmp_path):
    content = "# -*- coding: latin-1 -*-\r\nNAME = 'é'\r\n".encode("latin-1")
    (tmp_path / "mine.py").write_bytes(content)
    files_of_tasks = _task_files([Task([], files={"pack/mine.py": str(tmp_path / "mine.py")})])
    paths = files_of_tasks.write_sources(tmp_path / "there")
    assert Path(paths["pack/mine.py"]).read_bytes() == content
    assert paths["pack/mine.py"].endswith("there/pack/mine.py")


def test_moved_data_gives_the_same_cells(data_file, tmp_path):
    """Where the files of a batch are makes no difference; files differ in their time stamps."""
    cell = load_scenario(small.content(data_file, rounds=2)).cells[0]
    settings = cell.settings()
    (sha256,) = data_files(cell)
    moved = tmp_path / "moved.npz"
    moved.write_bytes(data_file.read_bytes())
    assert relocated(settings, {sha256: str(moved)})["data"]["name"] == str(moved)
    assert relocated(settings, {}) == settings
    results = [
        run_task(Task([settings], data={sha256: str(path)}), lambda rounds, rows: None)
        for path in (data_file, moved)
    ]
    one, other = (CellFile.from_bytes(content, "") for (content,) in results)
    assert one.settings == other.settings == settings
    for name, (_, values) in one.variables.items():
        assert other.variables[name][1].tobytes() == values.tobytes()
