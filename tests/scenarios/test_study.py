"""Studies that stop, go on, are damaged, or are asked for twice."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.cellfile import CellFile
from scenarios.folder import Folder
from scenarios.library import StudyError
from tests.scenarios import small


def cells_of(folder):
    return [CellFile.read(path) for path in sorted((Path(folder) / "cells").glob("*.nc"))]


def check_same(one, other):
    """Bit by bit."""
    cells, others = cells_of(one), cells_of(other)
    assert len(cells) == len(others) > 0
    for mine, theirs in zip(cells, others, strict=True):
        assert mine.settings == theirs.settings
        assert mine.variables.keys() == theirs.variables.keys()
        for name, (dims, values) in mine.variables.items():
            assert theirs.variables[name][0] == dims
            assert theirs.variables[name][1].dtype == values.dtype
            assert theirs.variables[name][1].tobytes() == values.tobytes(), name


def test_a_study_keeps_what_train_gives(finished, scenario):
    """Each cell is the run that the settings in it describe."""
    from fl import train

    for number in (0, 5):
        cell = scenario.cells[number]
        model, data, shards = cell.problem()
        history = train(
            cell.algorithm.build(),
            cell.link.build(),
            data,
            shards,
            model=model,
            seed=cell.seed,
            progress=False,
            **cell.training.options(),
        )
        kept = Folder(finished).read_cell(number)
        assert kept.settings == cell.settings()
        for name, values in history.metrics.items():
            np.testing.assert_allclose(kept.variables[name][1], values, rtol=2e-5, err_msg=name)


def test_the_bound_that_is_kept_is_theorem_2(tmp_path):
    """Channel term L d sigma_c^2 / (eta beta^2), sigma_c^2 = P / SNR; 1/beta^2 over the rounds."""
    content = {
        "data": {"partition": "quadratic", "clients": 4, "size": 6},
        "model": {"name": "quadratic"},
        "algorithm": {"name": "acpc", "G": 20.0},
        "link": {"kind": "gaussian", "snr_db": 13.0},
        "training": {"rounds": 5, "rate": 0.2, "batch_size": 10, "measure_gradient": True},
    }
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    kept = {name: values for name, (_, values) in cells_of(folder)[0].variables.items()}
    smoothness, variance = 1.0, 10**-1.3  # the largest eigenvalue of default_quadratic
    mean_inverse = np.cumsum(kept["gain"] ** -2.0) / np.arange(1, 6)
    expected = smoothness * 6 * variance * mean_inverse / 0.2
    np.testing.assert_allclose(kept["bound_channel_noise"], expected, rtol=1e-3)
    assert {name for name in kept if name.startswith("bound_")} == {
        "bound_optimisation", "bound_statistical", "bound_local_update", "bound_channel_noise"
    }  # fmt: skip


def test_results_do_not_depend_on_the_number_of_processes(finished, scenario, tmp_path):
    check_same(finished, run_study(scenario, tmp_path / "two", workers=2, progress=False))


def test_what_is_there_is_not_run_again(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    before = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}
    run_study(scenario, folder, progress=False)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")} == before


def test_missing_and_damaged_cells_are_run_again(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    cell = folder / "cells"
    (cell / "0000.nc").unlink()
    whole = (cell / "0003.nc").read_bytes()
    (cell / "0003.nc").write_bytes(whole[: len(whole) // 2])
    (cell / "0005.nc").write_bytes(b"")
    changed = CellFile.read(cell / "0006.nc")
    better = np.ones_like(changed.variables["test_accuracy"][1])
    _forge(cell / "0006.nc", "test_accuracy", better)
    assert [number for number in range(8) if Folder(folder).read_cell(number) is None] == [
        0,
        3,
        5,
        6,
    ]
    run_study(scenario, folder, progress=False)
    check_same(finished, folder)


def _forge(path, name, values):
    """Change one metric of a cell, as somebody with an HDF5 editor would."""
    import h5py

    with h5py.File(path, "r+") as file:
        file[name][...] = values


def test_finished_cells_of_a_batch_are_left_alone(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    (folder / "cells" / "0000.nc").unlink()
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
        kept = Folder(folder).read_cell(number).settings["link"]
        assert (kept["power"], kept["snr_db"]) == (cell.link.power, cell.link.snr_db)


def test_cells_that_changed_places_are_noticed(finished, scenario, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    one, other = (folder / "cells" / name for name in ("0000.nc", "0004.nc"))
    contents = one.read_bytes(), other.read_bytes()
    other.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert float(open_study(folder)["finished"].sum()) == 6
    with pytest.raises(ScenarioError, match="algorithm.name: there cotaf, here acpc"):
        run_study(scenario, folder, progress=False)


def test_other_data_are_refused(tmp_path):
    data_file = small.write_data(tmp_path / "blobs.npz")
    content = small.content(data_file, rounds=1)
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    (folder / "cells" / "0000.nc").unlink()
    with np.load(data_file) as arrays:
        np.savez(data_file, **{**arrays, "y_train": arrays["y_train"][::-1]})
    with pytest.raises(ScenarioError, match="sha256"):
        run_study(load_scenario(content), folder, progress=False)


def test_what_else_a_process_prints_is_no_message(finished, scenario, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('hello')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    check_same(finished, run_study(scenario, tmp_path / "study", progress=False))


def test_what_a_killed_process_left_is_no_hindrance(finished, scenario, tmp_path):
    folder = tmp_path / "study"
    (folder / "cells").mkdir(parents=True)
    left = [folder / "versions.json.1.part", folder / "cells" / "0000.nc.1.part"]
    for path in left:
        path.write_text("half")
    check_same(finished, run_study(scenario, folder, progress=False))
    assert not any(path.exists() for path in left)


def test_a_damaged_state_of_a_batch_is_no_hindrance(finished, scenario, tmp_path):
    folder = tmp_path / "study"
    with Folder(folder).locked():
        Folder(folder).begin(scenario)
    (folder / "underway" / "0.npz").write_bytes(b"not a checkpoint")
    run_study(scenario, folder, progress=False)
    check_same(finished, folder)
    assert not list((folder / "underway").iterdir())


def test_another_scenario_is_refused(finished, data_file, tmp_path):
    other = load_scenario(small.content(data_file), {"link.snr_db": 3.0, "data.clients": 5})
    with pytest.raises(ScenarioError) as error:
        run_study(other, finished, progress=False)
    assert "has a study of another scenario" in str(error.value)
    assert "link.snr_db: there 20.0, here 3.0" in str(error.value)
    assert "data.clients: there 4, here 5" in str(error.value)
    shorter = load_scenario(small.content(data_file), {"sweep.seed": [0]})
    with pytest.raises(ScenarioError, match=r"sweep.seed: there \[0, 1\], here \[0\]"):
        run_study(shorter, finished, progress=False)


def test_another_title_is_not_another_scenario(finished, data_file, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    paper = {"source": "a", "keys": [], "accuracy": []}
    renamed = load_scenario(small.content(data_file, title="new", paper=paper))
    assert run_study(renamed, folder, progress=False) == folder


def test_a_cell_of_other_settings_is_refused(finished, scenario, tmp_path):
    """As one that another version left, whose defaults were others."""
    folder = shutil.copytree(finished, tmp_path / "study")
    cell = CellFile.read(folder / "cells" / "0000.nc")
    settings = json.loads(json.dumps(cell.settings))
    settings["training"]["momentum"] = 0.9
    CellFile(settings, cell.variables, "", {}).write(folder / "cells" / "0000.nc")
    with pytest.raises(ScenarioError, match="training.momentum: there 0.9, here 0.0"):
        run_study(scenario, folder, progress=False)


def test_a_directory_with_other_things_is_left_alone(scenario, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ScenarioError, match="has other things in it .thesis.tex."):
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


def test_what_only_shows_with_the_data_is_refused_before_any_work(data_file, tmp_path):
    for change, message in (
        ({"data.labels_per_client": 5}, "labels_per_client = 5 is not allowed: there are 4 labels"),
        ({"link.power": [1.0, 2.0]}, "power has 2 values, one a client, but 4 take part"),
        ({"training.steps": [1, 2]}, "steps = .* one for each of the 4 clients"),
        ({"data.name": "nowhere.npz"}, "nowhere.npz cannot be read"),
        ({"sweep.algorithm.tau_max": {"a": [1, 2]}}, "tau_max = .* one for each of the 4 clients"),
    ):
        scenario = load_scenario(small.content(data_file), change)
        with pytest.raises(ScenarioError, match=message):
            run_study(scenario, tmp_path / "study", progress=False)
    assert not (tmp_path / "study").exists()
    with pytest.raises(ScenarioError, match="workers = 0 is not allowed"):
        run_study(scenario, tmp_path / "study", workers=0)


def test_a_run_that_diverges_is_kept_as_such(data_file, tmp_path):
    wild = small.content(data_file, algorithm={"name": "fedavg"}, sweep={"seed": [0, 1]})
    wild["training"] |= {"rate": 1e30, "weight_decay": 1e3}
    folder = run_study(load_scenario(wild), tmp_path / "study", progress=False)
    for cell in cells_of(folder):
        assert "diverged in round 0" in cell.diverged
    before = [path.read_bytes() for path in sorted(folder.glob("cells/*"))]
    run_study(load_scenario(wild), folder, progress=False)
    assert [path.read_bytes() for path in sorted(folder.glob("cells/*"))] == before


@pytest.fixture
def long_file(data_file, tmp_path):
    """Some seconds of work in four batches."""
    file = tmp_path / "long.toml"
    file.write_text(tomli_w.dumps(small.content(data_file, rounds=400)))
    return file


def start(file, folder, **options):
    return subprocess.Popen(
        small.command("run", file, "--out", folder, "--workers", 2),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for(condition, process):
    for _ in range(12_000):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.01)
    raise AssertionError("nothing happened")


def test_killed_at_any_moment_it_goes_on_as_if_nothing_had_been(long_file, tmp_path):
    """For real, with SIGKILL: as it begins, in the first batch, after the first cells, later."""
    whole = run_study(load_scenario(long_file), tmp_path / "whole", progress=False)
    folder = tmp_path / "killed"
    moments = [
        folder.exists,
        lambda: any(folder.glob("underway/*.npz")),
        lambda: any(folder.glob("cells/*.nc")),
        lambda: len(list(folder.glob("cells/*.nc"))) > 2,
    ]
    killed = 0
    for moment in moments:
        process = start(long_file, folder)
        wait_for(moment, process)
        kept = {path: path.read_bytes() for path in folder.glob("cells/*.nc")}
        killed += process.poll() is None
        process.kill()
        process.communicate()
        for path, content in kept.items():
            assert path.read_bytes() == content
    assert killed >= 3
    again = small.otafl("run", long_file, "--out", folder, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    check_same(whole, folder)
    left = [path.name for path in folder.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(
        ["scenario.toml", "versions.json", "lock", *(f"{n:04}.nc" for n in range(8))]
    )


@pytest.mark.parametrize("interrupts", [signal.SIG_DFL, signal.SIG_IGN])
def test_the_processes_go_when_the_one_that_steers_is_killed(data_file, tmp_path, interrupts):
    """Also where interrupts are ignored, as in the background of a shell script."""
    file, folder = tmp_path / "longer.toml", tmp_path / "study"
    file.write_text(tomli_w.dumps(small.content(data_file, rounds=20_000)))
    process = start(file, folder, preexec_fn=lambda: signal.signal(signal.SIGINT, interrupts))
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    workers = _workers_of(folder)
    assert workers
    process.kill()
    process.communicate()
    for _ in range(6000):
        if not _workers_of(folder):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {workers}")


def _workers_of(folder):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"scenarios.worker" in line and str(folder.resolve()).encode() in line:
            found.append(int(entry.name))
    return found


def test_one_thread_whatever_the_caller_has(long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder, env={**os.environ, "OPENBLAS_NUM_THREADS": "4"})
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    environment = Path(f"/proc/{_workers_of(folder)[0]}/environ").read_bytes().split(b"\0")
    process.kill()
    process.communicate()
    for name in ("OPENBLAS", "OMP", "MKL"):
        assert f"{name}_NUM_THREADS=1".encode() in environment


def test_interrupted_it_says_how_to_go_on(long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder)
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"otafl run {long_file} --out {folder}" in said
    assert "Traceback" not in said
    assert not _workers_of(folder)
    process = start(long_file, folder)
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_a_process_that_dies_is_told(long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder)
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    os.kill(_workers_of(folder)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "ended before its time (exit code -9): run it again to go on" in said
    assert "Traceback" not in said


def test_no_room_on_the_disk(data_file, tmp_path):
    """A limit on the size of files stands for a full disk; nothing half-written is left."""
    file = tmp_path / "small.toml"
    file.write_text(tomli_w.dumps(small.content(data_file)))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    full = small.otafl("run", file, "--out", tmp_path / "study", cwd=tmp_path, preexec_fn=limit)
    assert full.returncode == 1
    assert "cannot be written: File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert not list(tmp_path.rglob("*.part"))
    assert small.otafl("run", file, "--out", tmp_path / "study", cwd=tmp_path).returncode == 0
