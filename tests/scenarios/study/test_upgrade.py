"""Studies of earlier versions; a whole one of 0.1 is upgraded in tests/scenarios/test_study_0_1."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.errors import StudyError
from scenarios.study.cellfile import CellFile
from scenarios.study.folder import Folder
from scenarios.study.index import Index
from scenarios.study.upgrade import refuse_other_channels, upgrade_study
from tests.scenarios.config.simple import one
from tests.scenarios.study.cells import missing

OLD = Path(__file__).parents[2] / "data" / "study-0.1"


@pytest.fixture
def old(tmp_path):
    return shutil.copytree(OLD / "mnist", tmp_path / "old")


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_study_of_this_version_is_left_as_it_is(finished):
    before = contents(finished)
    assert upgrade_study(finished) is None
    assert contents(finished) == before


def test_what_is_no_study_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ScenarioError, match="nowhere is not a study: there is no such directory"):
        upgrade_study(tmp_path / "nowhere")
    with pytest.raises(ScenarioError, match="is not a study: it has no scenario.toml"):
        upgrade_study(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_study_that_is_being_run_is_left_alone(old):
    with Folder(old).locked(), pytest.raises(StudyError, match="being run by another process"):
        upgrade_study(old)
    assert not (old / "study.json").exists()


def test_cells_are_named_by_the_digest_of_their_settings(old):
    scenario = load_scenario(old / "scenario.toml")
    before = {path.name: path.read_bytes() for path in (old / "cells").iterdir()}
    assert upgrade_study(old) == 4
    for number, cell in enumerate(scenario.cells):
        after = (old / "cells" / f"{cell.digest()}.nc").read_bytes()
        assert after == before[f"{number:04}.nc"]
    assert json.loads((old / "study.json").read_text())["format"] == 1
    assert Folder(old).started_with()["otafl"] == "0.1.0"  # still what began it


def test_a_damaged_cell_is_left_behind_and_counts_as_missing(old):
    (old / "cells" / "0001.nc").write_bytes(b"half")
    assert upgrade_study(old) == 3
    assert missing(old) == [1]
    assert (old / "cells" / "0001.nc").read_bytes() == b"half"


def test_a_study_that_was_not_finished_keeps_its_places(old):
    whole = open_study(OLD / "mnist")
    (old / "cells" / "0002.nc").unlink()
    assert upgrade_study(old) == 3
    part = open_study(old)
    assert part["finished"].values.ravel().tolist() == [1.0, 1.0, 0.0, 1.0]
    kept = part["finished"].values.astype(bool)
    assert part["accuracy"].values[kept].tolist() == whole["accuracy"].values[kept].tolist()


def test_one_without_any_cell_can_be_upgraded_too(old):
    shutil.rmtree(old / "cells")
    assert upgrade_study(old) == 0
    assert not Folder(old).numbered
    assert len(Index.read(old).digests) == 4
    assert missing(old) == [0, 1, 2, 3]


def cells_by(version):
    """Return a finished cell made by a version."""
    made_with = {} if version is None else {"otafl": version}
    return {"digest": CellFile({}, {}, "", made_with)}


STILL = {"kind": "ofdm", "fading": {"kind": "tdl"}}
MOVING = {"kind": "ofdm", "fading": {"kind": "tdl", "speed": 3.0}}
SAMPLES = {"kind": "waveform", "fading": {"kind": "none"}}


@pytest.mark.parametrize("link", [MOVING, SAMPLES])
@pytest.mark.parametrize("version", ["0.1.0", "0.1.7"])
def test_channels_that_0_1_computed_differently_are_refused(link, version, tmp_path):
    with pytest.raises(ScenarioError, match=r"study has cells of otafl 0\.1, which computed"):
        refuse_other_channels(tmp_path / "study", cells_by(version), [one(), one(link=link)])


@pytest.mark.parametrize(
    ("link", "version"),
    [
        (STILL, "0.1.0"),
        ({"kind": "gaussian"}, "0.1.0"),
        ({"kind": "ideal"}, "0.1.0"),
        (MOVING, "0.2.0"),
        (SAMPLES, "0.10.0"),
        (SAMPLES, None),
    ],
)
def test_all_others_are_added(link, version, tmp_path):
    refuse_other_channels(tmp_path / "study", cells_by(version), [one(link=link)])


def test_nothing_is_refused_where_nothing_is_missing(tmp_path):
    refuse_other_channels(tmp_path / "study", cells_by("0.1.0"), [])
    refuse_other_channels(tmp_path / "study", {}, [one(link=MOVING)])


def test_an_upgraded_study_is_resumed_by_this_version(tmp_path):
    folder = shutil.copytree(OLD / "quadratic", tmp_path / "old")
    kept = open_study(folder)["test_loss"].values[1]
    (folder / "cells" / "0000.nc").unlink()
    assert upgrade_study(folder) == 1
    run_study(load_scenario(folder / "scenario.toml"), folder, progress=False, workers=1)
    study = open_study(folder)
    assert study["finished"].values.tolist() == [1.0, 1.0]
    assert study["test_loss"].values[1].tobytes() == kept.tobytes()
