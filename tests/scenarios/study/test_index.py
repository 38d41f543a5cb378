"""Which cells a study has, in a file that is read without anybody's code."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from otafl._base.files import file_sha256
from scenarios.config.sweep import Axis, Sweep
from scenarios.errors import ScenarioError, StudyError
from scenarios.study.growth import new_study
from scenarios.study.index import Index
from tests.scenarios.study.cells import start_study

OLD = Path(__file__).parents[2] / "data" / "study-0.1"
SCENARIO = """title = "older"
[sweep]
"link.snr_db" = [0.0, 10.0]
seed = [3, 4, 5]
"""


def index_of(labels, title="t", paper=None):
    """Return the index of a sweep over one key, every cell in a batch of its own."""
    axis = Axis("link.snr_db", tuple(labels), tuple(labels))
    batches = tuple(((f"digest{number}", (label,)),) for number, label in enumerate(labels))
    return Index(title, Sweep((axis,)), paper, batches)


def written(folder, index):
    folder.mkdir(exist_ok=True)
    (folder / "study.json").write_text(index if isinstance(index, str) else index.to_json())
    return folder


@pytest.mark.parametrize(
    "labels",
    [
        (0, 1, 2),
        (0.5, math.inf, -math.inf),
        (True, False),
        ("acpc", "größer, [bold]", 'with "quotes"', ""),
        (1, 2.5, "three", True),
    ],
)
def test_it_is_read_as_it_was_written(labels, tmp_path):
    index = index_of(labels, title="Größe\n[red]", paper={"keys": ["seed"], "accuracy": [[0, 50]]})
    read = Index.read(written(tmp_path, index))
    assert read == index
    found = read.sweep.axes[0].labels
    assert [type(label) for label in found] == [type(label) for label in labels]
    assert (tmp_path / "study.json").read_text().isascii()  # whatever the locale of a reader


def test_a_study_without_a_sweep_has_one_cell(tmp_path):
    index = Index("", Sweep(()), None, ((("digest", ()),),))
    read = Index.read(written(tmp_path, index))
    assert read == index
    assert read.digests == {(): "digest"}


def test_digests_are_found_by_place_whatever_the_batches():
    axes = Axis("a", (1, 2), (1, 2)), Axis("b", ("x", "y"), ("x", "y"))
    batches = (("d2", (1, "y")), ("d0", (2, "x"))), (("d1", (1, "x")),)
    index = Index("", Sweep(axes), None, batches)
    assert index.digests == {(1, "x"): "d1", (1, "y"): "d2", (2, "x"): "d0"}
    assert [index.digests.get(place) for place in index.sweep.places] == ["d1", "d2", "d0", None]


def test_the_file_has_a_format_number_and_plain_lists(tmp_path):
    content = json.loads(index_of([0, 1]).to_json())
    assert content == {
        "format": 1,
        "title": "t",
        "axes": [{"key": "link.snr_db", "labels": [0, 1]}],
        "paper": None,
        "keep_checkpoints": False,
        "written_by": "",
        "scenario_sha256": "",
        "batches": [[["digest0", 0]], [["digest1", 1]]],
    }


def test_a_study_has_the_index_that_it_was_begun_with(scenario, tmp_path):
    start_study(scenario, tmp_path / "study")
    read = Index.read(tmp_path / "study")
    assert replace(read, written_by="", scenario_sha256="") == new_study(scenario).index
    assert read.written_by == version("otafl")
    assert read.scenario_sha256 == file_sha256(tmp_path / "study" / "scenario.toml")
    assert len(read.digests) == 8
    assert [len(batch) for batch in read.batches] == [2, 2, 2, 2]
    assert read.digests["cotaf", 0.5, 1] == scenario.cells[7].digest()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "3",
        "null",
        "{}",
        '{"format": "one"}',
        '{"format": 1, "title": "t", "axes": [{}], "paper": null, "batches": []}',
        '{"format": 1, "title": "t", "axes": [], "paper": null, "batches": [[[]]]}',
        '{"format": 1, "title": "t", "axes": [], "paper": null, "batches": 3}',
        '{"format": 1, "title": "t", "axes": [], "batches": []}',
    ],
)
def test_a_damaged_file_is_said_to_be(content, tmp_path):
    with pytest.raises(StudyError) as error:
        Index.read(written(tmp_path, content))
    assert str(error.value).startswith(f"{tmp_path}/study.json is damaged (")
    assert len(str(error.value).splitlines()) == 1


def test_bytes_that_are_no_text_are_damage_as_well(tmp_path):
    (tmp_path / "study.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="study.json is damaged"):
        Index.read(tmp_path)


def test_a_later_version_is_named(tmp_path):
    content = index_of([0]).to_json().replace('"format": 1', '"format": 2')
    with pytest.raises(StudyError, match=r"study.json was written by a later version of otafl: up"):
        Index.read(written(tmp_path, content))


def test_what_is_no_study_is_said_to_be_none(tmp_path):
    with pytest.raises(ScenarioError, match=r"^.*/nowhere is not a study: there is no such direc"):
        Index.read(tmp_path / "nowhere")
    with pytest.raises(ScenarioError, match=r"is not a study: it has no scenario.toml$"):
        Index.read(tmp_path)
    (tmp_path / "study.json").mkdir()
    with pytest.raises(ScenarioError, match=r"is not a study: it has no scenario.toml$"):
        Index.read(tmp_path)


def test_cells_of_an_earlier_version_are_numbered_in_the_order_of_the_sweep(tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    read = Index.read(tmp_path)
    assert (read.title, read.paper, read.sweep.shape) == ("older", None, (2, 3))
    assert read.digests == {
        (0.0, 3): "0000", (0.0, 4): "0001", (0.0, 5): "0002",
        (10.0, 3): "0003", (10.0, 4): "0004", (10.0, 5): "0005",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["mnist", "quadratic"])
def test_a_study_that_0_1_wrote_has_the_files_that_its_index_names(name):
    names = {f"{digest}.nc" for digest in Index.read(OLD / name).digests.values()}
    assert names == {path.name for path in (OLD / name / "cells").iterdir()}


def test_equal_cells_are_trained_once():
    axis = Axis("a", (1, 2, 3), (1, 2, 3))
    batches = (("d", (1,)), ("d", (2,))), (("d", (2,)), ("e", (3,)))
    index = Index("", Sweep((axis,)), None, batches)
    assert index.runs == [["d"], ["e"]]
    assert index.size == 2
