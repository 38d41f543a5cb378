"""Cross-cutting: a small study that version 0.1 wrote can be shown, plotted, opened and resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, merge_studies, open_study, run_study
from scenarios.report.linkcheck import LinkCheck
from scenarios.report.tables import rows
from scenarios.study.cellfile import CellFile
from scenarios.study.upgrade import upgrade_study
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
    assert "Error" not in plot.stderr
    assert f"{copied}/{name}/figures/{figure}.svg" in plot.stdout.split()


def test_the_format_has_a_number_from_now_on(tmp_path):
    cell = CellFile.read(FOLDER / "mnist" / "cells" / "0000.nc")
    assert cell.format == 1
    cell.write(tmp_path / "again.nc")
    assert CellFile.read(tmp_path / "again.nc").format == 1  # still as 0.1 wrote it


def test_it_is_not_continued_before_it_is_upgraded(copied):
    scenario = load_scenario(copied / "quadratic" / "scenario.toml")
    before = {path: path.read_bytes() for path in (copied / "quadratic").rglob("*.*")}
    with pytest.raises(ScenarioError, match="written by an earlier version: otafl upgrade"):
        run_study(scenario, copied / "quadratic", progress=False)
    assert {path: path.read_bytes() for path in (copied / "quadratic").rglob("*.*")} == before


@pytest.mark.parametrize("name", SUMS)
def test_upgraded_it_is_complete_and_shows_the_same(name, copied):
    folder = copied / name
    contents = {path.read_bytes() for path in folder.glob("cells/*")}
    done = small.otafl("upgrade", folder, cwd=copied)
    assert done.returncode == 0, done.stderr
    assert f"its {len(contents)} finished cells are kept" in done.stdout
    assert {path.read_bytes() for path in folder.glob("cells/*")} == contents
    assert rows(folder) == json.loads((FOLDER / f"{name}.expected.json").read_text())
    again = small.otafl("run", folder, cwd=copied)
    assert again.returncode == 0, again.stderr
    assert f"all {len(contents)} cells are done" in again.stderr
    assert {path.read_bytes() for path in folder.glob("cells/*")} == contents
    assert "needs no upgrade" in small.otafl("upgrade", folder, cwd=copied).stdout


def test_upgraded_it_grows(copied):
    folder = copied / "quadratic"
    upgrade_study(folder)
    before = {path: path.read_bytes() for path in folder.glob("cells/*")}
    changes = {"sweep.training.rate": [0.2, 1e30, 0.1]}
    run_study(load_scenario(folder / "scenario.toml", changes), folder, progress=False)
    after = {path: path.read_bytes() for path in folder.glob("cells/*")}
    assert len(after) == 3
    assert after.items() > before.items()


def test_an_upgrade_that_was_killed_is_completed(copied):
    folder = copied / "mnist"
    expected = rows(folder)
    upgrade_study(shutil.copytree(folder, copied / "whole"))
    first = next((copied / "whole" / "cells").iterdir())
    for old in (folder / "cells").iterdir():
        if old.read_bytes() == first.read_bytes():
            old.rename(folder / "cells" / first.name)  # one was renamed before the kill
    assert upgrade_study(folder) == 4
    assert rows(folder) == expected


def test_a_cell_of_other_settings_is_not_taken_for_the_study_s_own(copied):
    folder = copied / "quadratic"
    cell = CellFile.read(folder / "cells" / "0000.nc")
    settings = json.loads(json.dumps(cell.settings))
    settings["training"]["momentum"] = 0.9
    CellFile(settings, cell.variables, "", {}, format=1).write(folder / "cells" / "0000.nc")
    with pytest.raises(ScenarioError, match="training.momentum: there 0.9, here 0.0"):
        upgrade_study(folder)


def test_link_check(copied):
    check = LinkCheck.load(FOLDER / "link")
    assert check.links == ["link no options", "link ofdm"]
    assert check.mean.shape == (2, 11)
    assert 10 * np.log10(check.expected[0, 2]) == pytest.approx(-5.60, abs=0.005)
    shown = small.otafl("show", copied / "link", cwd=copied)
    assert "closed form" in shown.stdout
    assert small.otafl("plot", copied / "link", cwd=copied).returncode == 0


def test_channels_that_are_computed_differently_are_not_mixed(copied):
    """To a study of 0.1 over a moving channel, cells of this version are not added."""
    folder = copied / "mnist"
    upgrade_study(folder)
    more = load_scenario(folder / "scenario.toml", {"sweep.seed": [0, 1]})
    with pytest.raises(ScenarioError, match=r"has cells of otafl 0\.1, which computed multipath"):
        run_study(more, folder, progress=False)
    merge_studies([folder], copied / "merged")
    with pytest.raises(ScenarioError, match=r"has cells of otafl 0\.1, which computed multipath"):
        run_study(more, copied / "merged", progress=False)


def test_an_upgrade_that_is_refused_renames_nothing(copied):
    folder = copied / "mnist"
    expected = rows(folder)
    last = folder / "cells" / "0003.nc"
    last.write_bytes((folder / "cells" / "0000.nc").read_bytes())
    with pytest.raises(ScenarioError, match="0003.nc was computed with other settings"):
        upgrade_study(folder)
    assert len(rows(folder)) == len(expected)
    assert sorted(path.name for path in (folder / "cells").iterdir())[0] == "0000.nc"
