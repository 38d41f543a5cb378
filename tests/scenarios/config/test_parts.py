"""Configs that mirror dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from otafl._base.added import added, changed
from otafl._base.validation import assign, number
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import NONE, Part, field_type, mirror, written
from scenarios.config.reading import read
from scenarios.config.tables import Chain, One, inner_table, optional
from scenarios.errors import ScenarioError


@dataclass(frozen=True)
class Clock:
    """A part with limits."""

    drift: float = 0.0
    steps: tuple[int, ...] = (1, 2)
    limit: float | None = None

    def __post_init__(self):
        assign(self, drift=number("drift", self.drift, least=0))


@dataclass(frozen=True)
class Radio:
    """A part that has parts."""

    power: float
    clock: Clock = Clock(0.5)
    spare: Clock | None = None


CLOCK = mirror(Clock)
RADIO = mirror(Radio, "kind", "radio", clock=field_type(One(CLOCK)), spare=optional(CLOCK))


def test_a_config_has_the_options_and_defaults_of_its_dataclass():
    config = RADIO(power=3)
    assert config.build() == Radio(3, Clock(0.5))
    assert config.settings() == {
        "kind": "radio",
        "power": 3,
        "clock": {"drift": 0.5, "steps": [1, 2], "limit": NONE},
        "spare": NONE,
    }


def test_numbers_are_written_as_the_dataclass_has_them():
    assert repr(CLOCK(drift=1).settings()["drift"]) == "1.0"


def test_lists_and_none_of_a_file():
    assert CLOCK(steps=[3, 4], limit=NONE).build() == Clock(0.0, (3, 4), None)
    assert RADIO(power=1.0, spare=NONE).build().spare is None
    assert read(RADIO, {"power": 1.0, "spare": {"drift": 2.0}}).build().spare == Clock(2.0)


def test_the_dataclass_validates():
    with pytest.raises(ValidationError, match="drift must be a finite number >= 0, got -1"):
        CLOCK(drift=-1)
    with pytest.raises(ValidationError, match="Extra inputs"):
        CLOCK(drfit=1)
    with pytest.raises(ScenarioError, match="spare must be a table, got 3"):
        read(RADIO, {"power": 1.0, "spare": 3})


def test_every_mistake_has_a_line():
    with pytest.raises(ScenarioError) as error:
        read(RADIO, {"clock": {"stepps": 3}, "spare": 3, "pwoer": 1}, "radio")
    assert str(error.value).splitlines() == [
        "radio.clock.stepps is not a key; did you mean 'steps'?",
        "radio.power must be given",
        "radio.spare must be a table, got 3",
        "radio.pwoer is not a key of radio; did you mean 'power'?",
    ]


def test_a_chain_keeps_its_order_and_leaves_out_what_is_absent():
    chain = Chain(Catalogue("clock", "kind"), last=True, first=CLOCK, second=CLOCK)

    class Pair(Part):
        chain: field_type(chain)

    def pair(**tables):
        return read(Pair, {"chain": tables}).chain

    both = pair(second={"drift": 2.0}, first={"drift": 1.0})
    assert both.build() == (Clock(1.0), Clock(2.0))
    assert pair(second={"drift": 2.0}, first=NONE).settings().keys() == {"second"}
    assert pair().build() == ()


def test_configs_are_frozen_and_comparable():
    assert CLOCK(drift=1) == CLOCK(drift=1.0)
    with pytest.raises(ValidationError, match="frozen"):
        CLOCK().drift = 2.0


def test_tables_inside_a_table():
    assert inner_table(RADIO, "spare").kinds == [CLOCK]
    assert inner_table(RADIO, "power") is None


def test_written():
    assert written((1, None, [CLOCK()])) == [1, NONE, [CLOCK().settings()]]


@dataclass(frozen=True)
class Newer:
    """A part whose second option came later."""

    first: float = 1.0
    second: float = added("0.3", default=2.0, earlier=0.0)
    third: tuple[int, ...] | None = added("0.4", default=(1,), earlier=None)


def test_an_option_at_its_earlier_value_does_not_tell_results_apart():
    """0 reproduces versions without the option; the new default does not pass for the old one."""
    newer = mirror(Newer)
    assert newer(second=0.0, third=None).identity() == {"first": 1.0}
    assert newer().identity() == {"first": 1.0, "second": 2.0, "third": [1]}
    assert newer(second=0.0).settings() == {"first": 1.0, "second": 0.0, "third": [1]}


@pytest.mark.parametrize(
    ("stored_by", "second", "third"),
    [("", 2.0, (1,)), ("0.2.0", 0.0, None), ("0.3", 2.0, None), ("0.10", 2.0, (1,))],
)
def test_what_an_earlier_version_stored_keeps_its_meaning(stored_by, second, third):
    config = read(mirror(Newer), {"first": 3.0}, stored_by=stored_by)
    assert (config.first, config.second, config.third) == (3.0, second, third)
    assert read(mirror(Newer), {"second": 5.0}, stored_by="0.1").second == 5.0


@dataclass(frozen=True)
class Changed:
    """A part whose default is another since 0.3."""

    first: float | str = changed("0.3", default="tracked", earlier=0.5)


def test_a_changed_default_still_tells_results_apart():
    """Earlier versions named their cells by it, so its earlier value counts as well."""
    kind = mirror(Changed)
    assert kind().identity() == {"first": "tracked"}
    assert kind(first=0.5).identity() == {"first": 0.5}
    assert read(kind, {}, stored_by="0.2.0").first == 0.5
    assert read(kind, {"first": 2.0}, stored_by="0.2.0").first == 2.0
    assert read(kind, {}, stored_by="0.3.0").first == read(kind, {}).first == "tracked"


@dataclass(frozen=True)
class Recording:
    """A part that is read from a file."""

    file: str
    sha256: str = ""


def test_a_file_counts_by_its_content():
    recording = mirror(Recording)
    recording.file_key = "file"
    one, other = (recording(file=file, sha256="ab") for file in ("/here/a", "/there/b"))
    assert one.identity() == other.identity() == {"sha256": "ab"}
    assert recording(file="a").identity() == {"file": "a", "sha256": ""}
