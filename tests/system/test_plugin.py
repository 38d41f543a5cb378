"""The package of docs/howto/plugin.md, built and installed as the page says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios import small
from tests.test_docs import write_files

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "plugin.md"


def test_an_installed_package_offers_its_part(tmp_path):
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    write_files(PAGE, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--target", site, "."], cwd=source, check=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}

    def otafl(*arguments):
        return subprocess.run(
            small.command(*arguments),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    listed = otafl("list", "--parts").stdout
    assert "  vote (from otafl-vote): server_step = 0.01" in listed
    sweep = 'sweep.algorithm.name=["vote", "cotaf"]'
    run = otafl("run", "quickstart", "--rounds", 2, "--seeds", 1, "--set", sweep, "--out", "study")
    assert run.returncode == 0, run.stderr
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    shown = subprocess.run(
        small.command("show", "study", "--json"),
        cwd=tmp_path,
        env=without,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(shown.stdout)
    assert [row["algorithm.name"] for row in rows] == ["vote", "cotaf"]
    refused = small.otafl("run", "study", cwd=tmp_path)  # the package is not installed here
    assert refused.returncode == 2
    assert "got 'vote'" in refused.stderr
