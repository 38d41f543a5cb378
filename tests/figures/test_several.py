"""Several studies in one figure."""

from __future__ import annotations

import numpy as np
import pytest

from figures import several
from figures.several import read
from otafl._base.validation import OptionError
from scenarios import load_scenario, open_study, run_study
from tests.scenarios import small


@pytest.fixture(scope="module")
def folders(data_file, tmp_path_factory):
    """Two studies: one sweeps the rate at 20 dB, the other the SNR at a rate of 0.5."""
    place = tmp_path_factory.mktemp("several")
    first = small.content(data_file, rounds=2)
    second = small.content(data_file, rounds=3, algorithm={"name": "cotaf"})
    second["sweep"] = {"link.snr_db": [10.0, 20.0], "seed": [0, 1]}
    for name, content in (("first", first), ("second", second)):
        run_study(load_scenario(content), place / name, progress=False)
    return place / "first", place / "second"


def test_one_study_is_itself(folders):
    first = open_study(folders[0])
    assert read(folders[0]).identical(first)
    assert read([first]).identical(first)


def test_what_a_study_does_not_sweep_has_the_value_it_has_there(folders):
    both = read(folders)
    assert both["study"].values.tolist() == ["first", "second"]
    assert both["snr_db"].values.tolist() == [10.0, 20.0]
    first, second = open_study(folders[0]), open_study(folders[1])
    mine = both["accuracy"].sel(study="first", snr_db=20.0)
    np.testing.assert_array_equal(mine, first["accuracy"].transpose(*mine.dims))
    theirs = both["accuracy"].sel({"study": "second", "training.rate": 0.5, "algorithm": "cotaf"})
    np.testing.assert_array_equal(theirs, second["accuracy"].squeeze().transpose(*theirs.dims))
    assert float(both["finished"].sum()) == 8 + 4
    assert both["snr_db"].attrs["key"] == "link.snr_db"
    assert both.sizes["round"] == 3


def test_a_key_that_comes_with_the_study_is_dropped(folders):
    """The first study does not sweep the SNR, and is at another one."""
    both = read(folders, {"link.snr_db": 10.0})
    assert "snr_db" not in both.dims
    second = open_study(folders[1])["accuracy"].sel(snr_db=10.0)
    mine = both["accuracy"].sel({"study": "second", "algorithm": "cotaf", "training.rate": 0.5})
    np.testing.assert_array_equal(mine, second)
    assert int(both["accuracy"].sel(study="second").notnull().sum()) == 2


def test_numbers_beside_names_are_names(folders, data_file, tmp_path):
    content = small.content(data_file, rounds=2, algorithm={"name": "cotaf"})
    content["sweep"] = {"link.power": {"weak": 0.1, "strong": 4.0}}
    run_study(load_scenario(content), tmp_path / "named", progress=False)
    both = read([folders[1], tmp_path / "named"])
    assert set(both["power"].values.tolist()) == {"1.0", "weak", "strong"}
    assert both["diverged"].notnull().all()


def test_a_value_is_refused_where_no_study_has_the_key(folders):
    with pytest.raises(OptionError, match="where must be a key that the study sweeps"):
        read(folders, {"link.truncation": 0.1})
    with pytest.raises(OptionError, match="where must be a mapping"):
        read(folders[0], [0.1])


def test_unfinished_studies_are_noted(folders):
    notes = []
    study = open_study(folders[0])
    study["finished"] = study["finished"].where(study["seed"] == 0, 0.0)
    read({"half": study}, on_note=notes.append)
    assert notes == ["half is not finished: 4 of 8 cells are drawn"]


def test_names_are_the_shortest_that_differ(folders, tmp_path):
    assert list(several._named([(each, None) for each in folders])) == ["first", "second"]
    paths = [tmp_path / "a" / "study", tmp_path / "b" / "study"]
    assert list(several._named([(each, None) for each in paths])) == ["a/study", "b/study"]
    named = read({"ours": folders[0], "theirs": folders[1]})
    assert named["study"].values.tolist() == ["ours", "theirs"]


def test_the_same_study_twice_needs_names(folders):
    with pytest.raises(OptionError, match="study must be different studies"):
        read([folders[0], folders[0]])


@pytest.mark.parametrize(
    ("wrong", "must"),
    [
        (3, "the directory of a study or its dataset, got 'int'"),
        ({}, "at least one study, got {}"),
        ([], r"at least one study, got \[\]"),
        ([4], "the directory of a study or its dataset, got 'int'"),
    ],
)
def test_what_is_no_study_is_refused(wrong, must):
    with pytest.raises(OptionError, match=f"study must be {must}"):
        read(wrong)
