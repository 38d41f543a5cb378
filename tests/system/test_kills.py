"""Twenty random kills of a study on this machine: no finished cell is lost, no bit differs."""

from __future__ import annotations

import os
import signal
import time

import pytest
import tomli_w

from scenarios import load_scenario, run_study
from scenarios.study.cellfile import CellFile
from tests.scenarios import small
from tests.scenarios.study.cells import check_same
from tests.scenarios.study.processes import start, wait_for, workers_of

pytestmark = pytest.mark.system


def test_random_kills(rng, tmp_path):
    data = small.write_data(tmp_path / "blobs.npz")
    content = small.content(data, rounds=400)
    content["sweep"]["seed"] = list(range(12))
    file, folder = tmp_path / "long.toml", tmp_path / "killed"
    file.write_text(tomli_w.dumps(content))
    kept = {}
    for number in range(20):
        process = start(file, folder)
        wait_for(lambda: bool(workers_of(folder)), process)
        time.sleep(rng.uniform(0.0, 2.5))
        how = [signal.SIGKILL, signal.SIGTERM][int(rng.integers(2))]
        whom = ["driver", "worker", "both"][number % 3]
        if process.poll() is None and whom in ("worker", "both"):
            for worker in workers_of(folder)[:1]:
                os.kill(worker, how)
        if process.poll() is None and whom in ("driver", "both"):
            process.send_signal(how)
        _, said = process.communicate(timeout=60)
        assert "Traceback" not in said, (whom, how, said)
        until = time.monotonic() + 10
        while workers_of(folder):
            assert time.monotonic() < until, "workers outlive the driver"
            time.sleep(0.05)
        for path, cell in kept.items():
            assert path.read_bytes() == cell
        kept = {path: path.read_bytes() for path in folder.glob("cells/*.nc")}
        for path in kept:
            CellFile.read(path)
    assert run_study(load_scenario(file), folder, progress=False)
    check_same(folder, run_study(load_scenario(file), tmp_path / "whole", progress=False))
