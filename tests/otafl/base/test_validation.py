"""Validation of arguments: "NAME must be ..., got ..."."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from otafl._base import validation
from otafl._base.validation import OptionError


@pytest.mark.parametrize(
    ("value", "limits", "expected"),
    [
        (3, {}, 3.0),
        (np.float32(0.5), {}, 0.5),
        (np.array(2), {}, 2.0),
        (0, {"least": 0}, 0.0),
        (1, {"most": 1}, 1.0),
        (math.inf, {"infinite": True}, math.inf),
    ],
)
def test_a_number_is_returned_as_float(value, limits, expected):
    found = validation.number("x", value, **limits)
    assert (found, type(found)) == (expected, float)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        ("1", {}, "x must be a finite number, got '1'"),
        (True, {}, "x must be a finite number, got True"),
        (None, {}, "x must be a finite number, got None"),
        (1j, {}, "x must be a finite number, got 1j"),
        ([1.0], {}, r"x must be a finite number, got \[1.0\]"),
        (math.nan, {}, "x must be a finite number, got nan"),
        (math.inf, {}, "x must be a finite number, got inf"),
        (-math.inf, {"infinite": True}, "x must be a finite number, or inf, got -inf"),
        (10**400, {}, "x must be a finite number, got 1000"),
        (0, {"above": 0}, "x must be a finite number > 0, got 0"),
        (-1, {"least": 0, "most": 1}, "x must be a finite number >= 0 and <= 1, got -1"),
        (2, {"least": 0, "most": 1}, "x must be a finite number >= 0 and <= 1, got 2"),
    ],
)
def test_what_is_not_a_number_within_limits_is_refused(value, limits, message):
    with pytest.raises(OptionError, match=message):
        validation.number("x", value, **limits)


def test_an_error_has_name_and_explanation():
    with pytest.raises(ValueError, match="rate") as caught:
        validation.number("rate", -1, above=0)
    assert caught.value.name == "rate"
    assert caught.value.explanation == "must be a finite number > 0, got -1"
    assert str(caught.value) == "rate must be a finite number > 0, got -1"


def test_long_values_are_shortened_and_hints_appended():
    error = OptionError("x", "short", list(range(1000)), "; why so long?")
    assert len(str(error)) < 100
    assert str(error).endswith("; why so long?")


def test_scalars():
    assert validation.scalars("x", 2) == 2.0
    assert validation.scalars("x", [1, 2]) == (1.0, 2.0)
    assert validation.scalars("x", np.array([1.0, 2.0])) == (1.0, 2.0)
    assert validation.scalars("x", range(2)) == (0.0, 1.0)
    with pytest.raises(OptionError, match=r"x\[1\] must be a finite number >= 0, got -2"):
        validation.scalars("x", [1, -2], least=0)
    for value in ([], np.ones((2, 2))):
        with pytest.raises(OptionError, match="x must be a number, or a flat list of numbers"):
            validation.scalars("x", value)


def test_integer():
    found = validation.integer("n", np.int64(3), least=1)
    assert (found, type(found)) == (3, int)
    for value in (0, 2.0, True, "2", None):
        with pytest.raises(OptionError, match="n must be a whole number >= 1, got"):
            validation.integer("n", value, least=1)
    with pytest.raises(OptionError, match="n must be a whole number from 1 to 5, got 6"):
        validation.integer("n", 6, least=1, most=5)


def test_boolean():
    assert validation.boolean("b", np.True_) is True
    with pytest.raises(OptionError, match="b must be True or False, got 1"):
        validation.boolean("b", 1)


def test_choice():
    assert validation.choice("c", "one", ("one", "two")) == "one"
    with pytest.raises(OptionError, match=r"c must be one of 'one', 'two', got 'three'$"):
        validation.choice("c", "three", ("one", "two"))
    with pytest.raises(OptionError, match=r"got 'ONE'; did you mean 'one'\?"):
        validation.choice("c", "ONE", ("one", "two"))
    with pytest.raises(OptionError, match="got 1"):
        validation.choice("c", 1, ("one", "two"))


def test_typed():
    validation.typed("f", "text", str, "a text")
    validation.typed("f", None, str | None, "a text or None")
    for value in (str, 3):  # a class is not an object of it
        with pytest.raises(OptionError, match="f must be a text, got"):
            validation.typed("f", value, str, "a text")


def test_real_array():
    for dtype, expected in (("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("f2", "f8")):
        assert validation.real_array("a", np.ones(2, dtype)).dtype == expected
    assert validation.real_array("a", [1, 2]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="a must be real numbers, got an array of complex128"):
        validation.real_array("a", [1j])
    with pytest.raises(ValueError, match="a must be real numbers, got an array of bool"):
        validation.real_array("a", [True])
    with pytest.raises(ValueError, match="a must be an array of numbers"):
        validation.real_array("a", [[1], [1, 2]])


def test_assign_sets_fields_of_a_frozen_dataclass():
    @dataclass(frozen=True)
    class Frozen:
        x: float

        def __post_init__(self):
            validation.assign(self, x=float(self.x))

    assert repr(Frozen(1).x) == "1.0"
