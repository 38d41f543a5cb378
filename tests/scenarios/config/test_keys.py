"""Dotted keys of nested tables."""

from __future__ import annotations

import pytest

from scenarios import ScenarioError
from scenarios.config.keys import flat, set_key


def test_flat_and_set_key_are_inverse():
    tables = {"title": "x", "link": {"kind": "ofdm", "fading": {"kind": "tdl", "speed": 3.0}}}
    again: dict = {}
    for key, value in flat(tables).items():
        set_key(again, key, value)
    assert again == tables
    assert list(flat(tables)) == ["title", "link.kind", "link.fading.kind", "link.fading.speed"]


def test_a_value_is_not_a_table():
    tables = {"link": {"kind": "ofdm"}}
    with pytest.raises(ScenarioError, match="link.kind.x cannot be set: link.kind is not a table"):
        set_key(tables, "link.kind.x", 1)
    assert tables == {"link": {"kind": "ofdm"}}
