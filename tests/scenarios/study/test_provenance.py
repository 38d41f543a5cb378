"""Versions that a result was computed with."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version

from scenarios.study.provenance import _revision, versions


def test_versions():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["machine"] == platform.machine()
    for package in ("otafl", "numpy", "xarray", "sionna-no-rt"):
        assert found[package] == version(package)


def test_the_revision_of_a_checkout(tmp_path):
    def git(*command):
        subprocess.run(["git", "-C", tmp_path, *command], check=True, capture_output=True)

    assert _revision(tmp_path) == ""
    git("init")
    assert _revision(tmp_path) == ""  # no commit yet
    git("-c", "user.name=a", "-c", "user.email=b", "commit", "--allow-empty", "-m", "first")
    clean = _revision(tmp_path)
    assert len(clean) == 40
    (tmp_path / "new").write_text("")
    assert _revision(tmp_path) == clean + "+"
