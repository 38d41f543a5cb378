"""Load scenarios from files and dicts, and apply changes to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otafl._base.names import check_names
from scenarios.config.code import Code
from scenarios.config.importing import refuse_while_importing
from scenarios.config.keys import flat, set_key
from scenarios.config.library import CODE_FOLDER, INDEX_FILE, bundled, read_source
from scenarios.config.objects import described
from scenarios.config.scenario import CHOOSERS, Scenario
from scenarios.config.sweep import VARIANT
from scenarios.errors import ScenarioError


@check_names
def load_scenario(
    source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Scenario:
    """Load a scenario.

    Parameters
    ----------
    source : str, path or mapping
        The name of a bundled scenario (``otafl list``), a TOML file, or the content of one. Where
        a file has a table that describes an object, such as ``link``, a mapping may have the
        object.
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
    refuse_while_importing("load_scenario")
    code = Code(_folder(source))
    read = source if isinstance(source, Mapping) else read_source(source)
    content = {key: described(value, str(key)) for key, value in read.items()}
    content.setdefault("sweep", {})
    before: dict[str, set[str]] = defaultdict(set)
    for key, value in (changes or {}).items():
        _change(content, key, described(value, key), before)
        if f"sweep.{key}" in (changes or {}):
            raise ScenarioError(f"only one of {key} and sweep.{key} may be given")
    return Scenario.read(content, before, code)


def _folder(source: str | Path | Mapping[str, Any]) -> Path:
    """Return the folder that files in a scenario are relative to."""
    if isinstance(source, Mapping) or str(source) in bundled():
        return Path.cwd()
    folder = Path(source).absolute().parent
    return folder / CODE_FOLDER if (folder / INDEX_FILE).is_file() else folder


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
    variants = sweep.get(VARIANT)
    tables = variants.values() if isinstance(variants, Mapping) else ()
    if any(axis in flat(table) for table in tables if isinstance(table, Mapping)):
        raise ScenarioError(f"{key} cannot be set: the variants of the sweep set it")
    swept = next((each for each in sweep if axis.startswith(f"{each}.")), None)
    if swept is not None:
        raise ScenarioError(f"{key} cannot be set: {swept} is swept as a whole")
    if axis != key:
        sweep[axis] = value
    else:
        sweep.pop(key, None)
        set_key(content, key, value)
