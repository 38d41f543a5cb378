"""The example script runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import scenarios

SCRIPT = Path(scenarios.__file__).parent / "examples" / "fading_and_snr.py"


def test_fading_and_snr(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Rician, K = 4" in done.stdout
    assert (tmp_path / "out/fading-and-snr/fading-and-snr.png").stat().st_size > 10_000
