"""Scenarios from files and dicts, and changes to them."""

from __future__ import annotations

import pytest
import tomli_w

from fl import Cotaf
from links import GaussianLink
from phy import Rician
from scenarios import ScenarioError, load_scenario
from tests.scenarios import small
from tests.scenarios.config.simple import SIMPLE, written


def test_changes():
    scenario = load_scenario(
        {**SIMPLE, "sweep": {"link.snr_db": [0, 10], "seed": [0, 1]}},
        {"link.snr_db": 5.0, "sweep.algorithm.name": ["cotaf", "fedavg"], "training.rounds": 3},
    )
    assert [axis.key for axis in scenario.sweep.axes] == ["seed", "algorithm.name"]
    assert {(cell.link.snr_db, cell.training.rounds) for cell in scenario.cells} == {(5.0, 3)}


def test_a_change_of_choice_leaves_no_options_behind():
    content = {
        "algorithm": {"G": 2.0},
        "link": {"kind": "ofdm", "truncation": 0.2, "fading": {"kind": "tdl", "model": "C"}},
        "sweep": {"algorithm.name": ["acpc", "cotaf"]},
    }
    changes = {"algorithm.name": "cotaf", "link.kind": "gaussian"}
    (cell,) = load_scenario(content, changes).cells
    assert (cell.algorithm.build(), cell.link.build()) == (Cotaf(), GaussianLink())
    assert written(load_scenario(content, changes)).cells == (cell,)
    flat = load_scenario(content, {"link.fading.kind": "rician"})
    assert flat.cells[0].link.build().fading == Rician()


def test_the_sweep_may_be_replaced_as_a_whole():
    changes = {"sweep": {"link.snr_db": [1, 2]}, "sweep.seed": [0, 1, 2]}
    scenario = load_scenario({**SIMPLE, "sweep": {"training.rounds": [1, 2]}}, changes)
    assert [axis.key for axis in scenario.sweep.axes] == ["link.snr_db", "seed"]


def test_files(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(tomli_w.dumps(SIMPLE))
    assert load_scenario(file).cells == load_scenario(SIMPLE).cells
    file.write_text("[link\n")
    with pytest.raises(ScenarioError, match="mine.toml is not valid TOML: .*line 1"):
        load_scenario(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="mine.toml is not valid TOML"):
        load_scenario(str(file))
    with pytest.raises(ScenarioError, match=r"nowhere.toml cannot be read: No such file"):
        load_scenario("nowhere.toml")
    with pytest.raises(ScenarioError, match="got 'tabel1'; did you mean 'table1'"):
        load_scenario("tabel1")


def test_a_dataset_beside_the_scenario_is_found_from_anywhere(data_file, monkeypatch, tmp_path):
    file = data_file.parent / "mine.toml"
    file.write_text(tomli_w.dumps(small.content(data_file.name)))
    monkeypatch.chdir(tmp_path)
    assert load_scenario(file).cells[0].data.name == str(data_file)


def test_what_cannot_be_a_table():
    with pytest.raises(ScenarioError, match="must be a plain value, a table, or an object of a"):
        load_scenario({**SIMPLE, "link": object()})
    with pytest.raises(ScenarioError, match=r"link must be a table such as .*, got 3"):
        load_scenario({**SIMPLE, "link": 3})


def test_training_is_set_key_by_key():
    """A table in its place would silently reset the other keys to their defaults."""
    with pytest.raises(ScenarioError, match="key by key: set training.rounds, training.rate"):
        load_scenario("quickstart", {"training": {"rounds": 5, "rate": 0.1}})


def test_misspelt_options():
    with pytest.raises(TypeError, match="load_scenario has no option 'rounds'; its options are"):
        load_scenario("quickstart", rounds=3)
    with pytest.raises(ScenarioError, match="training.lr is not a key; did you mean 'rate'"):
        load_scenario("quickstart", {"training.lr": 0.1})
