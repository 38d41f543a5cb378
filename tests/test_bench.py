"""The benchmarks run; what they measure is not judged here."""

from __future__ import annotations

import pytest

from links import IdealLink
from tests.bench import (
    demo_page,
    gain_rule,
    local_training,
    ofdm_round,
    population,
    scaling,
    timing,
    waveform_round,
)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(timing, "TURNS", 1)
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    monkeypatch.setattr(scaling, "SECONDS", 0.0)
    monkeypatch.setattr(local_training, "STEPS", 2)
    monkeypatch.setattr(local_training, "ROUNDS", 2)
    monkeypatch.setattr(waveform_round, "ROUNDS", 2)
    for name, value in (("FEW", 5), ("MANY", 50), ("ROUNDS", 4), ("TURNS", 1)):
        monkeypatch.setattr(population, name, value)


def test_radio(capsys):
    ofdm_round.print_stock()
    ofdm_round.print_floor()
    scaling.print_curve("Clients", [(2, 100)])
    scaling.print_memory(2, 1000)
    printed = capsys.readouterr().out
    assert "stock Sionna, XLA" in printed
    assert "ours is" in printed


def test_waveform(capsys):
    waveform_round.print_stock()
    waveform_round.print_bare()
    waveform_round.print_large(2, 1000)
    waveform_round.print_learning()
    printed = capsys.readouterr().out
    assert "stock Sionna, one step, XLA" in printed
    assert "2 clients, 1000 entries, all faults" in printed
    assert "2 rounds of ACPC with all faults" in printed


def test_learning(capsys):
    local_training.main()
    printed = capsys.readouterr().out
    assert "per-client Keras loop" in printed
    assert "2 rounds of COTAF with 2 steps over OfdmLink" in printed


def test_population(capsys):
    population.main()
    printed = capsys.readouterr().out
    assert "best 5 of 10 of 50" in printed
    assert "Peak memory" in printed


def test_page(capsys):
    """Its class of twenty is a system test."""
    demo_page.answers()
    demo_page.curves()
    assert "20 clients, all faults" in capsys.readouterr().out


def test_gain_rule(capsys, monkeypatch):
    monkeypatch.setattr(gain_rule, "ROUNDS", 2)
    monkeypatch.setattr(gain_rule, "CONSTANTS", (0.5, 4.0))
    monkeypatch.setattr(gain_rule, "LINKS", {"ideal": IdealLink()})
    gain_rule.main(["mnist", "--most", "2", "--seeds", "0"])
    printed = capsys.readouterr().out
    assert "G = tracked" in printed
    assert printed.count("0.0 % scaled down") == 3
    assert "to the best constant            +0.00 points" in printed
    assert gain_rule.cifar_shaped(20, 10).x_train.shape == (20, 32, 32, 3)
