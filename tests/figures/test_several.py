"""Several studies in one figure."""

from __future__ import annotations

import numpy as np
import pytest

from figures import several
from figures.several import read, without_constants
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
    both = without_constants(read(folders).sel({"training.rate": [0.5]}))
    assert "snr_db" in both.dims  # two values in the second study
    chosen = read(folders)
    chosen = chosen.where((chosen["study"] == "first") | (chosen["snr_db"] == 10.0))
    chosen["finished"] = chosen["finished"].fillna(0)
    both = without_constants(chosen)
    assert "snr_db" not in both.dims
    assert both["accuracy"].sel(study="second").notnull().sum() == 2


def test_names_are_the_shortest_that_differ(folders, tmp_path):
    assert list(several._named([(each, None) for each in folders])) == ["first", "second"]
    paths = [tmp_path / "a" / "study", tmp_path / "b" / "study"]
    assert list(several._named([(each, None) for each in paths])) == ["a/study", "b/study"]
    named = read({"ours": folders[0], "theirs": folders[1]})
    assert named["study"].values.tolist() == ["ours", "theirs"]


def test_the_same_study_twice_needs_names(folders):
    with pytest.raises(OptionError, match="study must be different studies"):
        read([folders[0], folders[0]])


@pytest.mark.parametrize("wrong", [3, {}, []])
def test_what_is_no_study_is_refused(wrong):
    with pytest.raises(OptionError, match="study must be"):
        read(wrong)
