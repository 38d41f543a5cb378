"""Options of user-defined classes: what annotations say, and what cannot be an option."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from otafl._base.validation import OptionError
from scenarios import ScenarioError, load_scenario
from scenarios.config.options import check_of, hints_of, plain_value

HEAD = """
from __future__ import annotations
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
import otafl
if TYPE_CHECKING:
    from nowhere import Something

class Colour(Enum):
    RED = "red"

@dataclass(frozen=True)
class Inner:
    a: int = 1

@dataclass(frozen=True)
class Own(otafl.Fading):
    b: float = 0.5
    def draw(self, clients, times, rng, device_rng):
        raise NotImplementedError

def broken():
    raise KeyError("no default")

@dataclass(frozen=True)
class Alg(otafl.Algorithm):
    {fields}
    {extra}
    def aggregate(self, current, plan, updates, steps):
        raise NotImplementedError
"""


def load(folder, fields, extra="", **options):
    (folder / "mine.py").write_text(HEAD.format(fields=fields, extra=extra))
    algorithm = {"name": f"{folder}/mine.py:Alg", **options}
    (cell,) = load_scenario({"algorithm": algorithm, "link": {"kind": "ideal"}}).cells
    return cell.algorithm


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("x: int = 1", 3, 3),
        ("x: float = 1.0", 2, 2.0),
        ("x: float | None = None", "none", None),
        ("x: tuple[float, ...] = ()", [1, 2.5], (1.0, 2.5)),
        ("x: list[int] = field(default_factory=list)", [1, 2], [1, 2]),
        ("x: Literal['a', 'b'] | None = None", "b", "b"),
        ("x: Literal[1, 2] = 1", 2, 2),
        ("x: Any = 1", {"a": [1, "b"]}, {"a": [1, "b"]}),
        ("x: Something = 1", 7, 7),
        ("x: str = ''", "/a/b.py:C", "/a/b.py:C"),
    ],
)
def test_options_arrive_as_they_are_annotated(field, given, expected, tmp_path):
    config = load(tmp_path, field, x=given)
    assert config.build().x == expected
    assert type(config.build().x) is type(expected)


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("x: int = 1", 2.5, "algorithm.x must be a whole number, got 2.5"),
        ("x: float = 1.0\n    y: Something = 1", "big", "algorithm.x must be a finite number"),
        (
            "x: list[int] = field(default_factory=list)",
            "no",
            "algorithm.x must be a list, got",
        ),
        (
            "x: list[int] = field(default_factory=list)",
            [1, "a"],
            r"algorithm.x\[1\] must be a",
        ),
        ("x: tuple[float, float] = (0.0, 1.0)", 3, "algorithm.x must be a list, got 3"),
        ("x: tuple[float, float] = (0.0, 1.0)", [1.0], "algorithm.x must be a list of 2 values"),
        ("x: Literal['a', 'b'] | None = None", "c", "algorithm.x must be one of 'a', 'b', got 'c'"),
        ("x: Literal[1, 2] = 1", 3, "algorithm.x must be one of 1, 2, got 3"),
        ("x: Any = 1", [[float("nan")]], r"algorithm.x\[0\]\[0\] must be a number, got nan"),
        ("x: bool = True", 1, "algorithm.x must be true or false, got 1"),
    ],
)
def test_what_is_wrong_is_said(field, given, message, tmp_path):
    with pytest.raises(ScenarioError, match=message):
        load(tmp_path, field, x=given)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("x: Colour = Colour.RED", "its option 'x' must be a string, not an Enum"),
        ("x: Path = Path('a')", "the default of its option 'x' must be a plain value, got"),
        ("x: Any = field(default_factory=broken)", "the default of its option 'x' raises KeyError"),
        ("x: float = float('nan')", "the default of its option 'x' must be a plain value, got nan"),
        ("_x: int = 1", "its option '_x' must have another name"),
        ("build: float = 1.0", "its option 'build' must have another name"),
        ("name: str = ''", "its option 'name' must have another name"),
    ],
)
def test_what_cannot_be_an_option_is_said(field, message, tmp_path):
    with pytest.raises(ScenarioError, match=message):
        load(tmp_path, field)


def test_a_dataclass_inside_is_a_table(tmp_path):
    config = load(tmp_path, "x: Inner = Inner()\n    y: Inner | None = None", y={"a": 3})
    assert config.settings()["x"] == {"a": 1}
    assert (config.build().x.a, config.build().y.a) == (1, 3)
    with pytest.raises(ScenarioError, match="algorithm.x.a must be a whole number"):
        load(tmp_path, "x: Inner = Inner()", x={"a": "b"})


def test_parts_may_be_absent_or_the_user_s_own(tmp_path):
    fields = "x: otafl.Fading | None = None\n    y: otafl.Fading = Own()"
    config = load(tmp_path, fields)
    assert config.build().x is None
    assert type(config.build().y).__name__ == "Own"
    assert config.settings()["y"] == {"kind": "mine.py:Own", "b": 0.5}
    again = load(tmp_path, fields, x={"kind": "rician"}, y=config.settings()["y"])
    assert (again.build().x.k_factor, again.build().y.b) == (4.0, 0.5)


def test_fields_that_are_not_options_are_left_alone(tmp_path):
    fields = "x: int = 1\n    y: int = field(init=False, default=2)"
    assert load(tmp_path, fields, x=5).settings() == {"name": "mine.py:Alg", "x": 5}


@pytest.mark.parametrize("error", ["KeyError('a')", "SystemExit(3)", "TypeError('b')"])
def test_what_a_constructor_raises_is_said_in_a_line(error, tmp_path):
    extra = f"def __post_init__(self):\n        raise {error}"
    with pytest.raises(ScenarioError, match=rf"{error.split('(')[0]}.*\(mine.py, line \d+"):
        load(tmp_path, "x: int = 1", extra)


def test_a_value_that_the_class_converts_is_stored_as_given(tmp_path):
    extra = "def __post_init__(self):\n        object.__setattr__(self, 'x', Colour(self.x))"
    assert load(tmp_path, "x: str = 'red'", extra).settings()["x"] == "red"


def test_one_unknown_name_does_not_hide_the_others():
    @dataclass
    class Mixed:
        a: int
        b: Nowhere  # noqa: F821

    assert hints_of(Mixed) == {"a": int}


def test_plain_values():
    assert plain_value("x", {"a": [1, "b", True]}) == {"a": [1, "b", True]}
    with pytest.raises(OptionError, match=r"x.a must be a plain value, .*, got None"):
        plain_value("x", {"a": None})
    assert check_of(float)("x", 3) == 3.0
