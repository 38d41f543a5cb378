"""Cross-cutting: a small study that version 0.1 wrote can be shown, plotted, opened and resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.report.linkcheck import LinkCheck
from scenarios.report.tables import rows
from scenarios.study.cellfile import CellFile
from scenarios.study.folder import Folder
from tests.scenarios import small

FOLDER = Path(__file__).parents[1] / "data" / "study-0.1"
SUMS = {  # over everything that is not NaN, computed by version 0.1
    "mnist": {
        "weight": 4.0,
        "rate": 4.8,
        "gain": 178.76423971919553,
        "train_loss": 33.40515677630901,
        "largest_gradient": 230.66597366333008,
        "steps": 304.0,
        "scaled_down": 32.0,
        "energy": 45.543068609062956,
        "symbol_load": 66.79803629469073,
        "nmse": 1947.5166985250073,
        "received_snr_db": -116.45088291496558,
        "airtime": 0.014791666666666667,
        "test_accuracy": 5.6297,
        "accuracy": 1.67605,
        "diverged": 0.0,
        "finished": 4.0,
    },
    "quadratic": {
        "gain": 3.74999625,
        "squared_gradient_norm": 1.4052154782667619,
        "test_loss": 27.487891572141887,
        "bound_optimisation": 182.87677115941585,
        "bound_statistical": 0.05195065004596293,
        "bound_local_update": 1.3633566046826586,
        "bound_channel_noise": 2.6666719948200024,
        "diverged": 1.0,
        "finished": 2.0,
    },
}


@pytest.fixture
def copied(tmp_path):
    """A copy: figures go into the directory of a study."""
    return shutil.copytree(FOLDER, tmp_path / "0.1")


@pytest.mark.parametrize("name", SUMS)
def test_open_study(name):
    study = open_study(FOLDER / name)
    found = {metric: float(np.nansum(study[metric])) for metric in SUMS[name]}
    assert found == pytest.approx(SUMS[name], rel=1e-12)
    assert study["airtime"].attrs["units"] == "s"
    assert json.loads(study.attrs["made_with"][0])["otafl"] == "0.1.0"


def test_dimensions():
    sizes = {"algorithm": 2, "seed": 1, "link": 2, "round": 4, "client": 4, "symbol": 10}
    assert dict(open_study(FOLDER / "mnist").sizes) == sizes


@pytest.mark.parametrize("name", SUMS)
def test_show(name, tmp_path):
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text())
    assert rows(FOLDER / name) == expected
    shown = small.otafl("show", FOLDER / name, cwd=tmp_path)
    assert shown.returncode == 0
    assert "Written by version 0.1" in shown.stdout


@pytest.mark.parametrize(("name", "figure"), [("mnist", "table1"), ("quadratic", "theorem2")])
def test_plot(name, figure, copied):
    plot = small.otafl("plot", copied / name, cwd=copied)
    assert plot.returncode == 0, plot.stderr
    assert plot.stderr == ""
    assert f"{copied}/{name}/figures/{figure}.svg" in plot.stdout.split()


def test_the_format_has_a_number_from_now_on(tmp_path):
    cell = CellFile.read(FOLDER / "mnist" / "cells" / "0000.nc")
    assert cell.format == 1
    cell.write(tmp_path / "again.nc")
    assert CellFile.read(tmp_path / "again.nc").format == 1  # still as 0.1 wrote it


@pytest.mark.parametrize("name", SUMS)
def test_it_is_complete_and_resuming_it_runs_nothing(name, copied):
    folder = Folder(copied / name)
    before = {path: path.stat().st_mtime_ns for path in (copied / name).glob("cells/*")}
    assert folder.missing() == []
    run_study(folder.scenario(), copied / name, progress=False)
    assert {path: path.stat().st_mtime_ns for path in (copied / name).glob("cells/*")} == before


def test_link_check(copied):
    check = LinkCheck.load(FOLDER / "link")
    assert check.links == ["link no options", "link ofdm"]
    assert check.mean.shape == (2, 11)
    assert 10 * np.log10(check.expected[0, 2]) == pytest.approx(-5.60, abs=0.005)
    shown = small.otafl("show", copied / "link", cwd=copied)
    assert "closed form" in shown.stdout
    assert small.otafl("plot", copied / "link", cwd=copied).returncode == 0


def test_channels_that_are_computed_differently_are_not_mixed(tmp_path):
    """Of a study that 0.1 began over WaveformLink, missing cells are not added by this version."""
    scenario = load_scenario(
        {"link": {"kind": "waveform"}, "algorithm": {"name": "cotaf"}, "training": {"rounds": 1}}
    )
    folder = Folder(tmp_path / "study")
    with folder.locked():
        folder.begin(scenario)
    (folder.path / "versions.json").write_text('{"otafl": "0.1.0"}')
    with pytest.raises(ScenarioError, match=r"started with otafl 0\.1, which computed multipath"):
        run_study(scenario, folder.path, progress=False)
    (folder.path / "versions.json").write_text('{"otafl": "0.2.0"}')
    run_study(scenario, folder.path, progress=False)
