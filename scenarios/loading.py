"""Where scenarios come from: files, dicts, and changes to them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.library import ScenarioError, content_of
from scenarios.parts import flat, set_key
from scenarios.scenario import CHOOSERS, Scenario
from scenarios.tables import DATASETS


def load_scenario(
    source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Scenario:
    """A scenario that comes with the package, by name, or one of your own, from a file or a dict.

    changes : by dotted key, what to change: ``{"training.rounds": 20}`` fixes a key, swept or not;
        with ``sweep.`` before it the key is swept, ``{"sweep.link.snr_db": [0, 10]}``

    Examples
    --------
    >>> scenario = load_scenario("quickstart", {"training.rounds": 2, "sweep.seed": [0, 1]})
    >>> len(scenario.cells), scenario.cells[0].training.rounds
    (6, 2)
    """
    content = _plain(source if isinstance(source, Mapping) else _beside(source))
    content.setdefault("sweep", {})
    before: dict[str, set[str]] = defaultdict(set)
    for key, value in (changes or {}).items():
        _change(content, key, _plain(value), before)
        if f"sweep.{key}" in (changes or {}):
            raise ScenarioError(f"{key} and sweep.{key} are both given: give one of them")
    return Scenario.of(content, before)


def _beside(source: str | Path) -> dict[str, Any]:
    """What a file says; a dataset that lies beside it is found from anywhere."""
    content = content_of(source)
    data = content.get("data")
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        file = os.path.join(os.path.dirname(source), data["name"])
        if data["name"] not in DATASETS and os.path.exists(file):
            data["name"] = os.path.abspath(file)
    return content


def _change(content: dict[str, Any], key: str, value: Any, before: dict[str, set[str]]) -> None:
    """Fix a key, or with ``sweep.`` before it sweep it; note which choice that replaces."""
    sweep = content["sweep"]
    if key == "sweep" or not isinstance(sweep, dict):
        set_key(content, key, value)
        return
    axis = key.removeprefix("sweep.")
    path, _, last = axis.rpartition(".")
    if last in CHOOSERS:
        old = flat(content).get(axis)
        before[path] |= {str(each) for each in [old, *sweep.get(axis, ())] if each is not None}
    swept = next((each for each in sweep if axis.startswith(f"{each}.")), None)
    if swept is not None:
        raise ScenarioError(f"{key} cannot be set: {swept} is swept as a whole")
    if axis != key:
        sweep[axis] = value
    else:
        sweep.pop(key, None)
        set_key(content, key, value)


def _plain(value: Any) -> Any:
    """A copy in which arrays are lists, as in a file."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple | range) else value
