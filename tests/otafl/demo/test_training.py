"""The training of the page: told round by round, and stopped when asked."""

from __future__ import annotations

import math
from threading import Event

import pytest

from otafl.demo import training
from otafl.demo.setting import Setting
from otafl.demo.training import ALGORITHMS, Training


def run(setting):
    """The rounds that were told, and how it ended."""
    told, ended, done = [], [], Event()

    def end(problem):
        ended.append(problem)
        done.set()

    Training(setting, 0, lambda number, accuracies: told.append(accuracies), end).begin()
    assert done.wait(60)
    return told, ended


@pytest.mark.parametrize("clients", [1, 3, 10])
def test_every_algorithm_learns(clients, monkeypatch):
    monkeypatch.setattr(training, "ROUNDS", 8)
    told, ended = run(Setting(clients=clients, entry_snr_db=30.0))
    assert ended == [None]
    assert len(told) == 8
    assert all(len(accuracies) == len(ALGORITHMS) for accuracies in told)
    assert min(told[-1]) > 0.3  # guessing would be 0.1


def test_it_stops_after_a_round():
    done = Event()
    told = []

    def tell(number, accuracies):
        told.append(number)
        under_way.stop()

    under_way = Training(Setting(), 0, tell, lambda problem: done.set())
    under_way.begin()
    assert done.wait(60)
    assert told == [1]


def test_what_goes_wrong_is_told(monkeypatch):
    monkeypatch.setattr(training, "ROUNDS", -1)
    _, (problem,) = run(Setting())
    assert "rounds must be a whole number >= 1, got -1" in problem


def test_it_trains_over_the_link_of_the_page(monkeypatch):
    asked = []
    monkeypatch.setattr(
        training.fl, "train_together", lambda *given, **more: asked.append((given, more))
    )
    setting, done = Setting(clients=6, csi_error=0.1, backoff_db=3.0), Event()
    Training(setting, 7, lambda *told: None, lambda problem: done.set()).begin()
    assert done.wait(60)
    (((runs, problem), options),) = asked
    assert {link for _, link in runs} == {setting.link(correction="active")}
    assert problem.num_clients == 6
    assert options["seed"] == 7


def test_who_diverged_has_no_accuracy():
    told = []
    under_way = Training(Setting(), 0, lambda *found: told.append(found), lambda problem: None)
    under_way._tell(4, [{"test_accuracy": 0.5}, None])
    ((number, (first, second)),) = told
    assert (number, first) == (5, 0.5)
    assert math.isnan(second)
