"""Which key goes where."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from figures.roles import (
    Roles,
    assign,
    default_x,
    one_seed,
    select,
    swept,
    thin,
    without_surplus,
)
from otafl._base.validation import OptionError


def study_of(**axes):
    """A study with these values and no metrics but accuracy."""
    shape = tuple(len(values) for values in axes.values())
    variables = dict.fromkeys(("finished", "accuracy"), (tuple(axes), np.ones(shape)))
    study = xr.Dataset(variables, {name: list(values) for name, values in axes.items()})
    for name in axes:
        study[name].attrs["key"] = f"link.{name}"
    return study


def roles_of(study, **given):
    empty = dict.fromkeys(("x", "hue", "col", "row"))
    return assign(study, metrics=["accuracy"], **{**empty, **given})


def test_an_snr_comes_first_then_the_longest_numbers_then_names(sweep):
    assert default_x(sweep) == "snr_db"
    assert default_x(study_of(a=range(2), b=range(3), c="wxyz")) == "b"
    assert default_x(study_of(algorithm="ab", c="xyz")) == "c"
    assert default_x(study_of(d="xy", algorithm="ab", c="xy", b="xy")) == "d"  # the first of equals
    assert default_x(study_of(algorithm="ab")) == "round"


def test_lines_are_algorithms_and_the_rest_makes_panels(sweep):
    assert roles_of(sweep) == Roles("snr_db", ("accuracy",), "algorithm", "truncation", None)
    assert roles_of(sweep, x="link.truncation", col="algorithm") == Roles(
        "truncation", ("accuracy",), "snr_db", "algorithm", None
    )


def test_what_has_no_place_is_named():
    study = study_of(a=range(2), b=range(2), c=range(2), d=range(2), e=range(2))
    with pytest.raises(OptionError, match="link.e, which is swept too .* --where link.e=0, got 2"):
        roles_of(study, x="a")
    assert roles_of(select(study, {"e": 0}), x="a").row == "d"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": "a", "hue": "a"}, "hue must be another key than x, got 'link.a'"),
        ({"hue": "nothing"}, "hue must be a key that the study sweeps"),
    ],
)
def test_bad_roles_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        roles_of(study_of(a=range(2), b=range(2)), **given)


def test_values_are_chosen_as_numbers_or_as_text():
    study = study_of(snr=[-39.949, 0.0, 10.0], name=["one", "other, with comma"])
    assert select(study, {"snr": -39.9})["snr"].values.tolist() == [-39.949]
    assert select(study, {"snr": ["10", 0]})["snr"].values.tolist() == [10.0, 0.0]
    assert select(study, {"link.name": "other, with comma"}).sizes["name"] == 1
    assert select(study, {"snr": [0, 0, "0.0"]})["snr"].values.tolist() == [0.0]
    assert select(study, {"snr": 0, "link.snr": 10})["snr"].values.tolist() == [0.0, 10.0]
    assert select(study, {"snr": np.array([10.0])})["snr"].values.tolist() == [10.0]
    for wrong in (5, -39.0, 10.2):
        with pytest.raises(OptionError, match="where link.snr must be one of -39.949, 0.0, 10.0"):
            select(study, {"snr": wrong})
    with pytest.raises(OptionError, match="where link.snr must be one value or more"):
        select(study, {"snr": []})


def test_a_number_that_fits_two_values_is_none_of_them():
    with pytest.raises(OptionError, match="must be one of"):
        select(study_of(x=[1.001, 1.002]), {"x": 1.0})


def test_over_rounds_the_accuracy_is_that_of_the_tests(sweep):
    roles = assign(sweep, "round", ["accuracy"], None, None, None)
    assert roles.metrics == ("test_accuracy",)
    with pytest.raises(OptionError, match="y must be a metric that has a value in every round"):
        assign(sweep, "round", ["diverged"], None, None, None)


def test_at_most_six_panels_with_a_note_on_the_rest():
    study, notes = study_of(x=range(3), hue=range(2), col=range(5), row=range(4)), []
    thinned = thin(study, Roles("x", ("accuracy",), "hue", "col", "row"), notes.append)
    assert thinned.sizes["col"] * thinned.sizes["row"] <= 6
    assert thinned["col"].values[[0, -1]].tolist() == [0, 4]  # the ends are kept
    assert notes == [
        "2 of 4 values of row are drawn; for others add --where 'link.row=[1, 2]'",
        "3 of 5 values of col are drawn; for others add --where 'link.col=[1, 3]'",
    ]
    twice = thin(study, Roles("x", ("accuracy", "nmse"), "hue", "col", None), notes.append)
    assert twice.sizes["col"] == 3  # two metrics each


def test_at_most_ten_lines():
    study, notes = study_of(x=range(2), hue=range(25)), []
    roles = Roles("x", ("accuracy",), "hue", None, None)
    assert thin(study, roles, notes.append).sizes["hue"] == 10
    assert len(notes) == 1
    assert thin(study, roles, notes.append, lines=25).sizes["hue"] == 25


def test_nothing_is_left_out_where_all_fits(sweep):
    notes = []
    assert thin(sweep, roles_of(sweep), notes.append).equals(sweep)
    assert not notes


def test_surplus_keys_keep_their_first_value():
    study, notes = study_of(x=range(2), a=range(2), algorithm="ab", b=["first one", "second"]), []
    left = without_surplus(study, "x", 2, notes.append)
    assert swept(left) == ["x", "a", "algorithm"]
    assert notes == [
        "drawn for link.b = first one only; for another value add --where link.b=second"
    ]


def test_the_seed_of_which_most_is_done():
    done = xr.DataArray([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]], dims=["x", "seed"])
    study = xr.Dataset({"finished": done}, {"seed": [5, 6, 7]})
    assert int(one_seed(study)["seed"]) == 6
