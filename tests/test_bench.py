"""The benchmarks run; what they measure is not judged here."""

from __future__ import annotations

from tests.bench import ofdm_round, scaling


def test_benchmarks_run(monkeypatch, capsys):
    monkeypatch.setattr(ofdm_round, "TURNS", 1)
    monkeypatch.setattr(ofdm_round, "SECONDS", 0.0)
    monkeypatch.setattr(scaling, "SECONDS", 0.0)
    ofdm_round.print_stock()
    ofdm_round.print_floor(2)
    scaling.print_curve("Clients", [(2, 100)])
    scaling.print_memory(2, 1000)
    printed = capsys.readouterr().out
    assert "stock Sionna, XLA" in printed
    assert "ours is" in printed
