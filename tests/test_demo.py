"""What make demo runs."""

from __future__ import annotations

import numpy as np
import pytest

from figures import link_demo as figure
from scenarios import link_demo as demo


def test_the_demo_prints_its_tables_and_draws_its_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    figure.main()
    printed = capsys.readouterr().out
    for name in demo.links_at(snr_db=0.0):
        assert printed.count(name) == 2
    for suffix in ("png", "svg"):
        assert (tmp_path / "out" / f"link_demo.{suffix}").stat().st_size > 10_000


def test_the_two_engines_show_the_same_round():
    signals = demo.model_updates(np.random.default_rng(3))
    rows = {row.name: row for row in demo.compare(signals, entry_snr_db=10.0)}
    ours, theirs = rows["OFDM, TDL-A"], rows["OFDM, through Sionna"]
    assert ours.nmse == pytest.approx(theirs.nmse, rel=1e-3)
    assert rows["exact sum"].nmse == 0
    gaussian = rows["Gaussian MAC"]
    # d squared normals: relative spread sqrt(2 / d)
    spread = np.sqrt(2 / demo.LENGTH)
    assert gaussian.nmse == pytest.approx(gaussian.expected_nmse, rel=5 * spread)
