"""The process that trains: what it reports, and when it ends."""

from __future__ import annotations

import json
from threading import Event

import pytest

from otafl.demo import scenario
from otafl.demo.scenario import ALGORITHMS, scenario_of
from otafl.demo.setting import Setting
from otafl.demo.trainer import start_worker
from otafl.demo.worker import train

SECONDS = 60  # for what should take one: machines are busy


def reports_of(content, stopping=None):
    told = []
    train(content, lambda **message: told.append(message), stopping or Event())
    return told


@pytest.mark.parametrize("clients", [1, 3, 10])
def test_every_algorithm_learns(clients, monkeypatch):
    monkeypatch.setattr(scenario, "ROUNDS", 8)
    *rounds, end = reports_of(scenario_of(Setting(clients=clients, entry_snr_db=30.0)))
    assert end == {"end": None}
    assert [told["round"] for told in rounds] == list(range(1, 9))
    assert all(len(told["accuracies"]) == len(ALGORITHMS) for told in rounds)
    assert min(rounds[-1]["accuracies"]) > 0.3  # guessing would be 0.1


def test_it_stops_after_a_round():
    told, stopping = [], Event()

    def report(**message):
        told.append(message)
        stopping.set()

    train(scenario_of(Setting()), report, stopping)
    assert [*told[0], *told[1]] == ["round", "accuracies", "end"]


def test_what_goes_wrong_is_told(monkeypatch):
    monkeypatch.setattr(scenario, "ROUNDS", -1)
    (end,) = reports_of(scenario_of(Setting()))
    assert "training.rounds must be a whole number" in end["end"]


def test_who_diverged_has_no_accuracy():
    content = scenario_of(Setting(clients=2))
    content["training"] |= {"rate": 1e30, "rounds": 3}
    *rounds, end = reports_of(content)
    assert end == {"end": None}
    assert None in rounds[-1]["accuracies"]


def test_it_ends_with_its_input_even_in_a_training():
    worker = start_worker()
    try:
        worker.stdin.write(json.dumps({"train": scenario_of(Setting())}) + "\n")
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline())["round"] == 1
        worker.stdin.close()
        assert worker.wait(SECONDS) == 0
    finally:
        worker.kill()
        worker.stdout.close()
        worker.wait()
