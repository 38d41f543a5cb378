"""The queue of trainings: places, stops, a full queue, and a worker that dies."""

from __future__ import annotations

import math
import os
import queue
import signal
import subprocess
import sys

import psutil
import pytest

from otafl.demo.setting import Setting
from otafl.demo.trainer import QueueFullError, Trainer, Training

SECONDS = 60  # for what should take one: machines are busy

# Tells one round, and ends when it is told to stop; its clients are who is trained.
STAND_IN = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "train" in message:
        if message["train"]["data"]["clients"] == 13:
            os._exit(3)
        print(json.dumps({"round": 1, "accuracies": [0.5, None]}), flush=True)
    else:
        print(json.dumps({"end": None}), flush=True)
"""


def start_stand_in():
    return subprocess.Popen(
        [sys.executable, "-c", STAND_IN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class Asked(Training):
    """A training that keeps what it is told."""

    def __init__(self, clients=2):
        told = queue.Queue()
        super().__init__(
            Setting(clients=clients),
            on_place=lambda ahead: told.put(("place", ahead)),
            on_round=lambda number, accuracies: told.put(("round", number, accuracies)),
            on_end=lambda problem: told.put(("end", problem)),
        )
        object.__setattr__(self, "told", told)

    def next(self):
        return self.told.get(timeout=SECONDS)

    def until(self, what):
        """What is told, up to a kind of message."""
        told = [self.next()]
        while told[-1][0] != what:
            told.append(self.next())
        return told


@pytest.fixture
def trainer():
    made = Trainer(most_waiting=3, start=start_stand_in)
    yield made
    made.close()


def test_one_after_another(trainer):
    first, second, third = Asked(), Asked(), Asked()
    trainer.submit(first)
    assert first.until("round")[-2] == ("place", 0)
    trainer.submit(second)
    trainer.submit(third)
    assert second.next() == ("place", 1)
    assert third.next() == ("place", 2)
    trainer.stop(first)
    assert first.until("end")[-1] == ("end", None)
    assert second.until("round")[-2] == ("place", 0)
    assert third.next() == ("place", 1)


def test_a_diverged_algorithm_has_no_number(trainer):
    asked = Asked()
    trainer.submit(asked)
    *_, (_, number, (first, second)) = asked.until("round")
    assert (number, first) == (1, 0.5)
    assert math.isnan(second)


def test_who_waits_can_leave_and_others_move_up(trainer):
    running, leaves, stays = Asked(), Asked(), Asked()
    for each in (running, leaves, stays):
        trainer.submit(each)
    running.until("round")
    trainer.stop(leaves)
    assert leaves.until("end")[-1] == ("end", None)
    while stays.next() != ("place", 1):
        pass
    trainer.stop(leaves)  # once more does no harm


def test_a_full_queue_refuses(trainer):
    running = Asked()
    trainer.submit(running)
    running.until("round")
    waiting = [Asked() for _ in range(3)]
    for each in waiting:
        trainer.submit(each)
    with pytest.raises(QueueFullError):
        trainer.submit(Asked())
    trainer.stop(waiting[0])
    trainer.submit(Asked())


def test_a_worker_that_crashes_is_reported_and_replaced(trainer):
    crashes, works = Asked(clients=13), Asked()
    trainer.submit(crashes)
    trainer.submit(works)
    ((_, problem),) = crashes.until("end")[-1:]
    assert "ended unexpectedly with exit code 3" in problem
    works.until("round")


def test_a_worker_that_died_while_idle_is_replaced(trainer):
    first, second = Asked(), Asked()
    trainer.submit(first)
    first.until("round")
    trainer.stop(first)
    first.until("end")
    trainer._worker.kill()
    trainer._worker.wait()
    trainer.submit(second)
    second.until("round")


def test_close_ends_the_worker():
    trainer = Trainer(start=start_stand_in)
    asked = Asked()
    trainer.submit(asked)
    asked.until("round")
    worker = trainer._worker
    trainer.close()
    assert worker.poll() is not None


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_the_worker_dies_with_a_server_that_is_killed():
    """The real worker, in the middle of a real training."""
    program = (
        "from threading import Event\n"
        "from otafl.demo.setting import Setting\n"
        "from otafl.demo.trainer import Trainer, Training\n"
        "trainer = Trainer()\n"
        "tell = lambda *found: print(trainer._worker.pid, flush=True)\n"
        "trainer.submit(Training(Setting(), lambda ahead: None, tell, print))\n"
        "Event().wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as server:
        worker = psutil.Process(int(server.stdout.readline()))
        os.kill(server.pid, signal.SIGKILL)
        worker.wait(SECONDS)
    assert not worker.is_running()
