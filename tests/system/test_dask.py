"""Studies on Dask, for real: killed workers, schedulers and drivers, TLS, files that travel.

All of it stays on 127.0.0.1.
"""

from __future__ import annotations

import random
import secrets
import shutil
import signal
import time

import numpy as np
import pytest
import tomli_w
import trustme

from scenarios import load_scenario
from scenarios import run_study as run_here
from tests.scenarios import small
from tests.scenarios.study.cells import check_same
from tests.system.dask_processes import (
    Cluster,
    cells,
    family,
    finish,
    known_tasks,
    listening,
    run_study,
    running_tasks,
    start_study,
    wait_until,
)

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

VOTE = '''
"""A user-defined algorithm, which is not trained where it was written."""

import os
from dataclasses import dataclass

import numpy as np
import otafl
from signs import signs_of


@dataclass(frozen=True)
class Vote(otafl.Algorithm):
    step: float = 0.01
    worst_round: int = -1
    deadly: bool = False

    def aggregate(self, current, plan, updates, steps):
        from later import AMOUNT

        assert current.number >= int(os.environ.get("FIRST_ROUND", 0))
        if self.deadly:
            os.kill(os.getpid(), 9)
        if current.number == self.worst_round:
            raise ZeroDivisionError("a bad round")
        votes = signs_of(updates)
        gain = current.uplink.max_gain(votes)
        received = current.uplink.send(votes, gain, weights=current.weights)
        model = current.model + AMOUNT * self.step * np.sign(received.total)
        return otafl.Outcome(model, received, gain)
'''
HELPERS = {
    "signs.py": "import numpy as np\n\n\ndef signs_of(x):\n    return np.sign(x)\n",
    "later.py": "AMOUNT = 2.0\n",
}


RECORDED = {"kind": "cir", "file": "recorded.npz", "snapshots": "drawn"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small.write_data(tmp_path_factory.mktemp("data") / "blobs.npz")


def write(file, data, rounds=300, seeds=6, **tables):
    """Write a scenario: two rates, so two batches per seed."""
    content = small.content(data, rounds=rounds, **tables)
    content["sweep"]["seed"] = list(range(seeds))
    file.write_text(tomli_w.dumps(content))
    return file


def user_files(folder, rounds, data=None, fading=False, **options):
    """Write a scenario with an algorithm, two helper modules and data in files beside it."""
    folder.mkdir()
    (folder / "vote.py").write_text(VOTE)
    for name, text in HELPERS.items():
        (folder / name).write_text(text)
    data = small.write_data(data or folder / "mine.npz")
    content = small.content(data.name if data.parent == folder else data, rounds=rounds)
    content["algorithm"] = {"name": "vote.py:Vote", **options}
    if fading:
        gains = np.random.default_rng(2).standard_normal((2, 4, 50, 3))  # clients, snapshots, paths
        np.savez(folder / "recorded.npz", a=gains[0] + 1j * gains[1], tau=np.zeros((4, 3)))
        content["link"] = {"kind": "ofdm", "snr_db": 20.0, "fading": RECORDED}
    del content["sweep"]["algorithm.name"]
    content["sweep"]["seed"] = list(range(4))
    file = folder / "study.toml"
    file.write_text(tomli_w.dumps(content))
    return file


@pytest.fixture(scope="module")
def long(data, tmp_path_factory):
    """A study of some seconds, and its results with the local engine."""
    folder = tmp_path_factory.mktemp("long")
    file = write(folder / "long.toml", data, rounds=1000)
    return file, run_here(load_scenario(file), folder / "whole", progress=False)


def test_a_cluster_on_this_machine_gives_the_same_bits(long, tmp_path):
    """From a script without a __main__ guard; nobody else can connect, and nothing is left."""
    file, whole = long
    folder = tmp_path / "study"
    process = start_study(file, folder)
    wait_until(lambda: cells(folder))
    processes = family(process)
    assert len(processes) == 3
    heard = [address for each in (process, *processes) for address in listening(each)]
    assert len(heard) >= 3
    assert set(heard) == {"127.0.0.1"}
    assert finish(process, 60) == (0, "")
    assert not [each for each in processes if each.is_running()]
    check_same(whole, folder)


def test_files_travel_and_a_worker_is_killed(tmp_path):
    """The workers start when the user's files are gone from where they were."""
    file = user_files(tmp_path / "mine", rounds=300, fading=True)
    whole = run_here(file, tmp_path / "whole", progress=False)
    folder = tmp_path / "study"
    with Cluster(tmp_path) as cluster, cluster.client() as client:
        process = start_study(file, folder, scheduler=cluster.address)
        wait_until(lambda: known_tasks(client))
        file.parent.rename(tmp_path / "gone")
        workers = [cluster.add_worker(), cluster.add_worker()]
        wait_until(lambda: cells(folder))
        assert all(each.poll() is None for each in workers)
        workers[0].kill()
        assert finish(process, 90) == (0, "")
    check_same(whole, folder)


def test_a_second_study_with_edited_files_on_the_same_workers(tmp_path):
    """A long-lived worker never takes a helper module of an earlier study for that of this one."""
    with Cluster(tmp_path) as cluster:
        cluster.add_worker()
        for name, amount in (("first", 2.0), ("second", 3.0)):
            file = user_files(tmp_path / name, rounds=6)
            (file.parent / "later.py").write_text(f"AMOUNT = {amount}\n")
            whole = run_here(file, tmp_path / f"{name}-whole", progress=False)
            check_same(
                whole, run_study(file, tmp_path / f"{name}-study", scheduler=cluster.address)
            )


@pytest.mark.parametrize("where", ["this machine", "scheduler"])
def test_an_error_in_user_code_reads_as_with_the_local_engine(tmp_path, where):
    file = user_files(tmp_path / "mine", rounds=6, worst_round=3)
    expected = finish(start_study(file, tmp_path / "local", engine="local"), 60)
    assert expected == (
        1,
        "otafl: ZeroDivisionError: a bad round (vote.py, line 25, in aggregate)\n",
    )
    if where == "this machine":
        assert finish(start_study(file, tmp_path / "study"), 60) == expected
        return
    with Cluster(tmp_path) as cluster:
        cluster.add_worker("--nthreads", 2)
        process = start_study(file, tmp_path / "study", scheduler=cluster.address)
        assert finish(process, 60) == expected


def test_a_batch_that_kills_its_workers(tmp_path):
    """It ends, whether all workers of our own are gone or Dask has given the batch up."""
    file = user_files(tmp_path / "mine", rounds=6, deadly=True)
    code, said = finish(start_study(file, tmp_path / "here"), 60)
    assert (code, said.partition(";")[0]) == (1, "otafl: all worker processes ended unexpectedly")
    with Cluster(tmp_path, {}, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        cluster.add_worker()
        cluster.add_worker()
        process = start_study(file, tmp_path / "there", scheduler=cluster.address)
        code, said = finish(process, 60)
    assert (code, said.partition(",")[0]) == (1, "otafl: Dask gave up a batch")
    assert said.count("\n") == 1


def test_the_scheduler_is_killed(long, tmp_path):
    file, whole = long
    folder = tmp_path / "study"
    with Cluster(tmp_path) as cluster:
        workers = [cluster.add_worker(), cluster.add_worker()]
        process = start_study(file, folder, scheduler=cluster.address)
        wait_until(lambda: cells(folder))
        cluster.processes[0].kill()
        began = time.monotonic()
        code, said = finish(process, 30)
        assert time.monotonic() - began < 10
        assert code == 1
        assert said == (
            f"otafl: lost the connection to the Dask scheduler {cluster.address}; finished cells "
            "are saved, run the study again to resume\n"
        )
        for worker in workers:  # they end of themselves
            worker.wait(30)
    kept = cells(folder)
    run_study(file, folder, engine="local")
    assert kept.items() <= cells(folder).items()
    check_same(whole, folder)


def test_ten_random_kills_lose_no_finished_cell(data, tmp_path):
    """Drivers and workers, with SIGKILL and SIGTERM, at random moments."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    folder, kept = tmp_path / "study", {}
    file = write(tmp_path / "long.toml", data, rounds=500, seeds=60)  # more than will be done
    for _ in range(10):
        process = start_study(file, folder)
        wait_until(lambda: len(family(process)) == 3, 30)  # noqa: B023
        if not kept:  # there is something to lose
            wait_until(lambda: cells(folder), 60)
        time.sleep(rng.uniform(0.0, 2.5))
        processes = family(process)
        if rng.choice(["driver", "worker"]) == "worker":
            processes[rng.choice([1, 2])].send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM]))
            time.sleep(rng.uniform(0.0, 1.0))  # the other one goes on
        kept |= cells(folder)
        assert process.poll() is None
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM]))
        finish(process, 10)
        gone_within(processes, 5)
        assert kept.items() <= cells(folder).items()
    assert 0 < len(kept) < 240
    few = write(tmp_path / "few.toml", data, rounds=500, seeds=8)
    run_study(few, folder)
    assert kept.items() <= cells(folder).items()
    check_same_as_in(run_here(few, tmp_path / "whole", progress=False), folder)


def gone_within(processes, seconds):
    wait_until(lambda: not [each for each in processes if each.is_running()], seconds)


def test_interrupted_it_is_gone_at_once(long, tmp_path):
    folder = tmp_path / "study"
    process = start_study(long[0], folder)
    wait_until(lambda: cells(folder))
    processes = family(process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert finish(process, 10) == (1, "otafl: stopped\n")
    assert time.monotonic() - began < 5
    gone_within(processes, 3)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_running_scheduler_survives_the_driver(data, tmp_path, how):
    """Its workers drop the batches of a driver that has gone, and are ready for the next."""
    file, folder = write(tmp_path / "endless.toml", data, rounds=10**6, seeds=1), tmp_path / "study"
    with Cluster(tmp_path) as cluster, cluster.client() as client:
        cluster.add_worker()
        process = start_study(file, folder, scheduler=cluster.address)
        wait_until(lambda: running_tasks(client))
        process.send_signal(how)
        code, said = finish(process, 5)
        assert (code, said) in ((1, "otafl: stopped\n"), (-signal.SIGKILL, ""))
        wait_until(lambda: not running_tasks(client), 10)
        assert known_tasks(client) == 0
        short = write(tmp_path / "short.toml", data, rounds=5, seeds=1)
        run_study(short, tmp_path / "short", scheduler=cluster.address)


def test_more_rounds_from_kept_checkpoints(tmp_path):
    """With Dask after Dask, and with the local engine after that; the algorithm counts."""
    folder, begun = tmp_path / "study", 0
    for rounds, engine in ((6, "dask"), (12, "dask"), (18, "local")):
        file = user_files(tmp_path / f"files-{rounds}", rounds, data=tmp_path / "mine.npz")
        whole = run_here(file, tmp_path / f"whole-{rounds}", progress=False)
        options = {"engine": engine, "keep_checkpoints": True}
        run_study(file, folder, environment={"FIRST_ROUND": str(begun)}, **options)
        assert len(list(folder.glob("underway/*.npz"))) == 8
        check_same_as_in(whole, folder)
        begun = rounds


def check_same_as_in(part, folder):
    """Check that the cells of one study are in another, bit by bit."""
    extract = part.with_name(f"{part.name}-extract")
    shutil.copytree(part, extract)
    for name in cells(part):
        (extract / "cells" / name).write_bytes(cells(folder)[name])
    check_same(part, extract)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Files of two parties that do not know each other."""

    def issued(folder):
        authority = trustme.CA()
        own = authority.issue_cert("127.0.0.1")
        paths = {name: folder / f"{name}.pem" for name in ("ca_file", "cert", "key")}
        authority.cert_pem.write_to_path(paths["ca_file"])
        own.cert_chain_pems[0].write_to_path(paths["cert"])
        own.private_key_pem.write_to_path(paths["key"])
        return {name: str(path) for name, path in paths.items()}

    return [issued(tmp_path_factory.mktemp(name)) for name in ("ours", "theirs")]


def test_tls(data, certificates, tmp_path):
    ours, theirs = certificates
    file = write(tmp_path / "short.toml", data, rounds=20, seeds=1)
    with Cluster(tmp_path, ours) as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        cluster.add_worker()
        refused = start_study(
            file, tmp_path / "refused", scheduler=cluster.address, security=theirs
        )
        code, said = finish(refused, 30)
        assert code == 1
        assert said.startswith(f"otafl: the Dask scheduler {cluster.address} cannot be reached: ")
        assert said.count("\n") == 1
        folder = run_study(file, tmp_path / "s", scheduler=cluster.address, security=ours)
    check_same(run_here(file, tmp_path / "whole", progress=False), folder)


def test_nobody_answers(data, tmp_path):
    file = write(tmp_path / "short.toml", data, rounds=20, seeds=1)
    process = start_study(file, tmp_path / "study", scheduler="tcp://127.0.0.1:9")
    code, said = finish(process, 30)
    assert code == 1
    assert said.startswith("otafl: the Dask scheduler tcp://127.0.0.1:9 cannot be reached: ")
    assert said.count("\n") == 1
