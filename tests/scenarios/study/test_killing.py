"""Cross-cutting: studies that are killed, interrupted or out of disk space."""

from __future__ import annotations

import os
import resource
import signal
import time

import pytest
import tomli_w

from scenarios import load_scenario, run_study
from tests.scenarios import small
from tests.scenarios.study.cells import check_same, path_of
from tests.scenarios.study.processes import start, wait_for, workers_of


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
        [
            *("scenario.toml", "study.json", "versions.json", "lock"),
            *(path_of(folder, n).name for n in range(8)),
        ]
    )


@pytest.mark.parametrize("interrupts", [signal.SIG_DFL, signal.SIG_IGN])
def test_the_processes_go_when_the_one_that_steers_is_killed(data_file, tmp_path, interrupts):
    """Also where interrupts are ignored, as in the background of a shell script."""
    file, folder = tmp_path / "longer.toml", tmp_path / "study"
    file.write_text(tomli_w.dumps(small.content(data_file, rounds=20_000)))
    process = start(file, folder, preexec_fn=lambda: signal.signal(signal.SIGINT, interrupts))
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    workers = workers_of(folder)
    assert workers
    process.kill()
    process.communicate()
    for _ in range(6000):
        if not workers_of(folder):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {workers}")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_stopped_it_says_how_to_go_on_within_five_seconds(number, code, long_file, tmp_path):
    folder = tmp_path / "study"
    process = start(long_file, folder)
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    process.send_signal(number)
    stopped = time.monotonic()
    _, said = process.communicate(timeout=120)
    assert time.monotonic() - stopped < 5
    assert process.returncode == code
    assert "otafl: stopped; finished cells are saved, running ones too; resume with:" in said
    assert f"otafl run {long_file} --out {folder}" in said
    assert "Traceback" not in said
    assert not workers_of(folder)
    process = start(long_file, folder)
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_ctrl_c_while_it_starts(long_file, tmp_path):
    """To the whole group of processes, as a terminal does, at moments of the first second."""
    for number in range(5):
        process = start(long_file, tmp_path / str(number), start_new_session=True)
        time.sleep(0.05 + 0.2 * number)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert process.returncode in (130, -signal.SIGINT), said  # before Python listens
        assert "Fatal" not in said


def test_nohup_is_respected(long_file, tmp_path):
    """A signal that is ignored when the program starts stays ignored."""
    folder = tmp_path / "study"
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = start(long_file, folder, preexec_fn=ignore)
    wait_for(lambda: any(folder.glob("underway/*.npz")), process)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_runs_that_diverged_are_named_at_the_end(data_file, tmp_path):
    content = small.content(data_file, rounds=3, algorithm={"name": "fedavg"})
    content["sweep"] = {"training.rate": [0.1, 1e12], "seed": [0, 1]}
    content["training"] |= {"weight_decay": 1e3}
    file = tmp_path / "wild.toml"
    file.write_text(tomli_w.dumps(content))
    done = small.otafl("run", file, "--out", "study", cwd=tmp_path)
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if "diverged" in line]
    wild = [line for line in lines if line.startswith("training.rate = 1000000000000.0, seed = ")]
    assert len(wild) == 2
    assert all("the run diverged in round 0: the models of clients" in line for line in wild)


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
