"""Load scenarios from files and dicts, and apply changes to them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otafl._base.names import check_names
from scenarios.config.data import DATASETS
from scenarios.config.keys import flat, set_key
from scenarios.config.library import read_source
from scenarios.config.scenario import CHOOSERS, Scenario
from scenarios.errors import ScenarioError


@check_names
def load_scenario(
    source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Scenario:
    """Load a scenario.

    Parameters
    ----------
    source : str, path or mapping
        The name of a bundled scenario (``otafl list``), a TOML file, or the content of one.
    changes : mapping of str to object, optional
        Values by dotted key: ``{"training.rounds": 20}`` sets a key, whether it was swept or not;
        with the prefix ``sweep.`` the key is swept, ``{"sweep.link.snr_db": [0, 10]}``.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        With a line for each key that is wrong.

    Examples
    --------
    >>> scenario = load_scenario("quickstart", {"training.rounds": 2, "sweep.seed": [0, 1]})
    >>> len(scenario.cells), scenario.cells[0].training.rounds
    (6, 2)
    """
    content = _plain(source if isinstance(source, Mapping) else _read_file(source))
    content.setdefault("sweep", {})
    before: dict[str, set[str]] = defaultdict(set)
    for key, value in (changes or {}).items():
        _change(content, key, _plain(value), before)
        if f"sweep.{key}" in (changes or {}):
            raise ScenarioError(f"only one of {key} and sweep.{key} may be given")
    return Scenario.read(content, before)


def _read_file(source: str | Path) -> dict[str, Any]:
    """Return the content of a file; a dataset beside it is found from any directory."""
    content = read_source(source)
    data = content.get("data")
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        file = os.path.join(os.path.dirname(source), data["name"])
        if data["name"] not in DATASETS and os.path.exists(file):
            data["name"] = os.path.abspath(file)
    return content


def _change(content: dict[str, Any], key: str, value: Any, before: dict[str, set[str]]) -> None:
    """Set a key or, with the prefix ``sweep.``, sweep it; record the choice that this replaces."""
    if key == "training" and isinstance(value, Mapping):
        each = ", ".join(f"training.{name}" for name in value)
        raise ScenarioError(f"training must be set key by key: set {each or 'training.KEY'}")
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
    """Return a copy in which arrays are lists, as in a file."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple | range) else value
