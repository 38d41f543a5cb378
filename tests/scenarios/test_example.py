"""The examples run as they stand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import scenarios
from tests.scenarios import small

EXAMPLES = Path(scenarios.__file__).parent / "examples"


def test_fading_and_snr(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "fading_and_snr.py", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Rician, K = 4" in done.stdout
    assert (tmp_path / "out/fading-and-snr/fading-and-snr.png").stat().st_size > 10_000


def test_majority_vote(tmp_path):
    """From another directory: the class is found beside the scenario."""
    file = EXAMPLES / "majority_vote" / "sweep.toml"
    done = small.otafl("run", file, "--rounds", 1, "--seeds", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(small.otafl("show", "out/sweep", "--json", cwd=tmp_path).stdout)
    assert {row["variant"] for row in rows} == {"vote, step 0.01", "vote, step 0.002", "COTAF"}
    assert all(row["n"] == 1 for row in rows)
    lines = (EXAMPLES / "majority_vote" / "vote.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 30
