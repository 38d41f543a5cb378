"""``python -m otafl`` is the command line."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version


def call(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "otafl", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_version(tmp_path):
    done = call("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, version("otafl"))


def test_help_has_every_command(tmp_path):
    done = call("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: otafl ")
    for command in ("list", "run", "show", "plot", "link", "validate", "demo"):
        assert f"\n    {command} " in done.stdout


def test_exit_codes(tmp_path):
    assert call("show", "nowhere", cwd=tmp_path).returncode == 2
    assert call("fly", cwd=tmp_path).returncode == 2
