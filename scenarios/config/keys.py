"""Dotted keys of nested tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenarios.errors import ScenarioError


def flat(tables: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the values of nested tables by dotted key.

    >>> flat({"link": {"kind": "ofdm", "fading": {"kind": "tdl"}}})
    {'link.kind': 'ofdm', 'link.fading.kind': 'tdl'}
    """
    result: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{path}{name}.")
        else:
            result[f"{path}{name}"] = value
    return result


def set_key(tables: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key in place, creating the tables on its path.

    >>> tables = {"link": {"kind": "ofdm"}}
    >>> set_key(tables, "link.fading.kind", "tdl")
    >>> tables
    {'link': {'kind': 'ofdm', 'fading': {'kind': 'tdl'}}}
    """
    *path, last = key.split(".")
    for depth, name in enumerate(path):
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            table = ".".join(path[: depth + 1])
            raise ScenarioError(f"{key} cannot be set: {table} is not a table")
    tables[last] = value
