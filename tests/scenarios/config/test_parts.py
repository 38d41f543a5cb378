"""Configs that mirror dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from otafl._base.validation import assign, number
from scenarios.config.parts import NONE, members, mirror, one_of, optional, row, written


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
RADIO = mirror(Radio, "kind", "radio", clock=CLOCK, spare=optional(CLOCK))
OTHER = mirror(Clock, "kind", "clock")


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
    assert RADIO(power=1.0, spare={"drift": 2.0}).build().spare == Clock(2.0)


def test_the_dataclass_validates():
    with pytest.raises(ValidationError, match="drift must be a finite number >= 0, got -1"):
        CLOCK(drift=-1)
    with pytest.raises(ValidationError, match="Extra inputs"):
        CLOCK(drfit=1)
    with pytest.raises(ValidationError, match="must be a table, got 3"):
        RADIO(power=1.0, spare=3)


def test_a_row_keeps_its_order_and_leaves_out_what_is_absent():
    pair = row(first=CLOCK, second=CLOCK)
    assert pair(second={"drift": 2.0}, first={"drift": 1.0}).build() == (Clock(1.0), Clock(2.0))
    assert pair(second={"drift": 2.0}, first=NONE).settings().keys() == {"second"}
    assert pair().build() == ()


def test_configs_are_frozen_and_comparable():
    assert CLOCK(drift=1) == CLOCK(drift=1.0)
    with pytest.raises(ValidationError, match="frozen"):
        CLOCK().drift = 2.0


def test_members_of_a_union():
    assert members(one_of(RADIO, OTHER)) == [RADIO, OTHER]
    assert members(optional(CLOCK)) == [CLOCK]
    assert members(int) == []


def test_written():
    assert written((1, None, [CLOCK()])) == [1, NONE, [CLOCK().settings()]]
