# ruff: noqa: E501  (a table of messages)
"""What may stand in a table: one kind, a kind that the table chooses, or a chain of several."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import pytest

from otafl._base.validation import assign, number
from phy.impairments import Adc, Rapp
from scenarios.config.catalogue import Catalogue
from scenarios.config.code import Code
from scenarios.config.link import RECEIVE, TRANSMIT
from scenarios.config.parts import NONE, Part, Row, mirror
from scenarios.config.reading import read
from scenarios.config.tables import (
    Chain,
    Choice,
    One,
    OneOf,
    field_type,
    inner_table,
    optional,
    snake_case,
)
from scenarios.errors import ScenarioError


@dataclass(frozen=True)
class Clock:
    """A part with limits."""

    drift: float = 0.0

    def __post_init__(self):
        assign(self, drift=number("drift", self.drift, least=0))


@dataclass(frozen=True)
class Exact(Clock):
    """A clock with one more option."""

    bits: int = 8


@dataclass(frozen=True)
class Filter:
    """Another one."""

    taps: int = 3


@dataclass(frozen=True)
class Radio:
    """A part that has parts."""

    clock: Clock = Clock(0.5)
    spare: Clock | None = None
    chain: tuple = field(default=(Clock(), Filter()))


CLOCK, FILTER = mirror(Clock), mirror(Filter)
PARTS = Catalogue("part", "kind")
PARTS.add("clock", Clock)
PARTS.add("filter", Filter)
USERS = Catalogue("part", "kind")

FILE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Plain:
    level: float = 1.0

@dataclass(frozen=True)
class Ahead:
    level: float = 2.0
    before = "filter"
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mine.py").write_text(FILE)
    return Code(tmp_path)


def read_with(table, given, code=None):
    """Return what a table in a field is read into."""

    class Holder(Part):
        part: field_type(table) if isinstance(table, One | Choice | Chain) else table

    return read(Holder, {"part": given}, code=code).part


def chain(last=True):
    return Chain(USERS, last=last, clock=CLOCK, filter=FILTER)


def test_a_table_of_one_kind_needs_no_name():
    assert read_with(One(CLOCK), {"drift": 2}).build() == Clock(2.0)
    assert read_with(One(CLOCK), {}).build() == Clock()
    assert One(CLOCK).kinds == [CLOCK]


def test_a_plain_value_may_stand_for_it_where_that_has_a_meaning():
    rate = One(CLOCK, lambda name, given: number(name, given, above=0))
    assert read_with(rate, 0.5) == 0.5
    assert read_with(rate, {"drift": 0.5}).build() == Clock(0.5)
    with pytest.raises(ScenarioError, match=r"^part must be a finite number > 0, got 0$"):
        read_with(rate, 0)
    with pytest.raises(ScenarioError, match=r"^part must be a table, got 0.5$"):
        read_with(One(CLOCK), 0.5)


def test_an_optional_table_may_be_none():
    assert read_with(optional(CLOCK), NONE) is None
    assert read_with(optional(CLOCK), {"drift": 1.0}).build() == Clock(1.0)
    for given in ("never", False, 0):
        with pytest.raises(ScenarioError, match=f"^part must be a table, got {given!r}$"):
            read_with(optional(CLOCK), given)


def test_a_choice_reads_the_options_of_what_it_chooses():
    assert read_with(Choice(PARTS), {"kind": "clock", "drift": 1.0}).build() == Clock(1.0)
    assert read_with(Choice(PARTS), {"taps": 5, "kind": "filter"}).build() == Filter(5)
    assert [each.choice for each in Choice(PARTS).kinds] == ["clock", "filter"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "part.kind must be given: one of 'clock', 'filter'"),
        ({"drift": 1.0}, "part.kind must be given: one of 'clock', 'filter'"),
        ({"kind": "clok"}, "part.kind must be one of 'clock', 'filter', got 'clok'; did you mean 'clock'?"),
        ({"kind": "clock", "taps": 3}, "part.taps is a key of filter, not of clock"),
        ({"kind": "clock", "drift": -1.0}, "part.drift must be a finite number >= 0, got -1.0"),
        ("filter", """part must be a table such as { kind = "filter" }, got 'filter'"""),
        (3, """part must be a table such as { kind = "clock" }, got 3"""),
        ([{"kind": "clock"}], """part must be a table such as { kind = "clock" }, got [{'kind': 'clock'}] (to sweep it, list its values in [sweep])"""),
    ],
)  # fmt: skip
def test_a_choice_says_what_is_wrong(given, message):
    with pytest.raises(ScenarioError) as error:
        read_with(Choice(PARTS), given)
    assert str(error.value) == message


def test_a_table_may_be_prepared_and_its_config_refined():
    def doubled(table):
        return {**table, "drift": 2 * table.get("drift", 0.0)}

    assert read_with(Choice(PARTS, prepare=doubled), {"kind": "clock", "drift": 1.0}).drift == 2.0
    exact = mirror(Exact, "kind", "clock")
    refined = Choice(PARTS, refine=lambda kind, table, code: exact if "bits" in table else kind)
    assert read_with(refined, {"kind": "clock"}).build() == Clock()
    assert read_with(refined, {"kind": "clock", "bits": 4}).build() == Exact(0.0, 4)


def test_where_a_sweep_uses_several_choices_each_takes_its_own_options():
    class Holder(Part):
        part: field_type(Choice(PARTS))

    table = {"kind": "clock", "drift": 1.0, "taps": 5}
    used = {"part": {"clock", "filter"}}
    assert read(Holder, {"part": table}, used=used).part.build() == Clock(1.0)
    other = {"part": {**table, "kind": "filter"}}
    assert read(Holder, other, used=used).part.build() == Filter(5)
    with pytest.raises(ScenarioError, match="part.taps is a key of filter, not of clock"):
        read(Holder, {"part": table}, used={"part": {"clock"}})


def order(row):
    assert isinstance(row, Row)
    return [name for name, _ in row.parts]


def test_a_chain_has_the_order_of_its_names_however_it_is_written():
    given = {"filter": {"taps": 5}, "clock": {}}
    assert read_with(chain(), given).build() == (Clock(), Filter(5))
    assert read_with(chain(), {**given, "clock": NONE}).build() == (Filter(5),)
    assert read_with(chain(), {}).build() == ()


def test_user_defined_objects_come_last_or_first(code):
    mine = {"x": {"kind": "mine.py:Plain", "level": 3.0}, "filter": {}, "clock": {}}
    assert order(read_with(chain(last=True), mine, code)) == ["clock", "filter", "x"]
    assert order(read_with(chain(last=False), mine, code)) == ["x", "clock", "filter"]
    assert read_with(chain(), mine, code).build()[-1].level == 3.0


@pytest.mark.parametrize("last", [True, False])
def test_one_that_says_before_which_stands_right_there(last, code):
    mine = {"x": {"kind": "mine.py:Ahead"}, "filter": {}, "clock": {}}
    assert order(read_with(chain(last), mine, code)) == ["clock", "x", "filter"]
    alone = {"x": {"kind": "mine.py:Ahead"}, "clock": {}}  # what it names need not be there
    assert order(read_with(chain(last), alone, code)) == ["clock", "x"]


def test_several_of_the_user_s_keep_the_order_of_the_file(code):
    mine = {
        "b": {"kind": "mine.py:Plain"},
        "d": {"kind": "mine.py:Ahead"},
        "filter": {},
        "a": {"kind": "mine.py:Plain", "level": 7.0},
        "c": {"kind": "mine.py:Ahead"},
    }
    assert order(read_with(chain(), mine, code)) == ["d", "c", "filter", "b", "a"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "part must be a table, got 3"),
        ({"clok": {}}, "part.clok is not a key; did you mean 'clock'?"),
        ({"x": {"level": 1.0}}, "part.x is not a key; the keys are clock, filter"),
        ({"x": "mine.py:Plain"}, "part.x is not a key; the keys are clock, filter"),
        ({"clock": 3}, "part.clock must be a table, got 3"),
        ({"clock": {"taps": 3}}, "part.clock.taps is not a key; the keys are drift"),
        ({"x": {"kind": "clock"}}, """part.x.kind must be the name of a user-defined class, as in "file.py:Class", got 'clock'"""),
        ({"x": {"kind": 3}}, """part.x.kind must be the name of a user-defined class, as in "file.py:Class", got 3"""),
        ({"x": {"kind": "mine.py:Plan"}}, "part.x.kind must be the name of a class in mine.py, got 'mine.py:Plan'; did you mean 'Plain'?"),
        ({"x": {"kind": "mine.py:Plain", "level": "high"}}, "part.x.level must be a finite number, or inf, got 'high'"),
    ],
)  # fmt: skip
def test_a_chain_says_what_is_wrong(given, message, code):
    with pytest.raises(ScenarioError) as error:
        read_with(chain(), given, code)
    assert str(error.value) == message


def test_every_mistake_in_a_chain_has_a_line(code):
    given = {"clock": {"drift": -1}, "x": {"kind": "mine.py:Plain", "leval": 1.0}, "y": {}}
    with pytest.raises(ScenarioError) as error:
        read_with(chain(), given, code)
    assert str(error.value).splitlines() == [
        "part.clock.drift must be a finite number >= 0, got -1",
        "part.x.leval is not a key of mine.py:Plain; did you mean 'level'?",
        "part.y is not a key; the keys are clock, filter",
    ]


def test_objects_become_configs():
    config = mirror(
        Radio,
        clock=field_type(One(CLOCK)),
        spare=optional(CLOCK),
        chain=field_type(chain()),
    )
    assert config().build() == Radio()
    assert config().settings() == {
        "clock": {"drift": 0.5},
        "spare": NONE,
        "chain": {"clock": {"drift": 0.0}, "filter": {"taps": 3}},
    }
    assert One(CLOCK).mirrored(Clock(2.0)).build() == Clock(2.0)
    assert One(CLOCK).mirrored(None) is None
    assert Choice(PARTS).mirrored(Filter(4)).settings() == {"kind": "filter", "taps": 4}
    assert chain().mirrored((Clock(1.0), Filter(9))).build() == (Clock(1.0), Filter(9))


def test_the_table_inside_a_field_is_found():
    config = mirror(Radio, clock=field_type(One(CLOCK)), chain=field_type(chain()))
    assert inner_table(config, "clock").kinds == [CLOCK]
    assert list(inner_table(config, "chain").named) == ["clock", "filter"]
    assert inner_table(config, "spare") is None
    assert inner_table(config, "nothing") is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Rapp", "rapp"),
        ("IqImbalance", "iq_imbalance"),
        ("ClipAndFilter", "clip_and_filter"),
        ("already_there", "already_there"),
        ("", ""),
    ],
)
def test_snake_case(name, key):
    assert snake_case(name) == key


def test_every_impairment_of_ours_is_named_after_its_class():
    for each in (TRANSMIT, RECEIVE):
        assert list(each.named) == [
            snake_case(part.target.__name__) for part in each.named.values()
        ]
    assert (TRANSMIT.named["rapp"].target, RECEIVE.named["adc"].target) == (Rapp, Adc)


def test_keys_tell_one_of_several_tables():
    class Either(Part):
        timing: field_type(OneOf([CLOCK, FILTER], number))

    def parsed(given):
        return read(Either, {"timing": given}).timing

    assert parsed({"drift": 0.5}) == CLOCK(drift=0.5)
    assert parsed({"taps": 5}) == FILTER(taps=5)
    assert parsed(7.0) == 7.0
    for given, message in (
        ({"drift": -1.0}, "timing.drift must be a finite number >= 0, got -1.0"),
        ({"tap": 5}, "timing.tap"),
        ({"taps": 5, "drift": 0.5}, "timing"),
        ("often", "timing must be a finite number, got 'often'"),
    ):
        with pytest.raises(ScenarioError, match=message):
            parsed(given)
    table = inner_table(Either, "timing")
    assert table.mirrored(Filter(4)) == FILTER(taps=4)
    assert table.mirrored(3) == 3
