"""All figures of a study."""

from __future__ import annotations

import re
import subprocess
import sys

from figures import (
    accuracy_sweep,
    gallery,
)


def test_the_same_study_gives_the_same_file(sweep, tmp_path):
    files = []
    for name in ("one", "other"):
        list(gallery._save(accuracy_sweep.draw(sweep), tmp_path / name, "figure"))
        files.append((tmp_path / name / "figure.svg").read_text())
    assert files[0] == files[1]
    assert "test accuracy [%]" in re.sub(r"<!--.*?-->", "", files[0])


def test_figures_do_not_need_a_screen():
    code = "import figures.gallery, matplotlib; print(matplotlib.get_backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().lower() == "agg"
