"""Cross-cutting: every bundled scenario for two rounds, from run to figure."""

from __future__ import annotations

import json

import pytest

from scenarios.config.library import bundled, read_toml
from tests.scenarios import small


@pytest.mark.parametrize("name", bundled())
def test_two_rounds(name, tmp_path):
    options = ["--rounds", 2, "--seeds", 1, "--out", "study"]
    if "link.entry_snr_db" in read_toml(bundled()[name])["sweep"]:  # six of them would take long
        options += ["--set", "sweep.link.entry_snr_db=[-18.949, 20.0]"]
    run = small.otafl("run", name, *options, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    rows = json.loads(small.otafl("show", "study", "--json", cwd=tmp_path).stdout)
    assert all(row["diverged"] == 0 for row in rows)
    if name == "table1":
        assert len(rows) == 36
        assert all(row["paper_percent"] > 40 for row in rows)
    if name != "theorem2":  # which has no classes
        assert all(row["n"] == 1 and 5 < row["accuracy_percent"] < 100 for row in rows)
    plot = small.otafl("plot", "study", cwd=tmp_path)
    assert plot.returncode == 0, plot.stderr
    assert plot.stdout.splitlines()
