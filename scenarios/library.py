"""Finding and reading scenario files; light, so that the command line answers at once."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = Path(__file__).parent
STUDY_FILE = "scenario.toml"  # in the directory of a study


class ScenarioError(ValueError):
    """What is wrong with a scenario, in the words of its file."""


class StudyError(Exception):
    """A study that cannot go on, for a reason outside of its scenario."""


def shipped() -> dict[str, Path]:
    """The scenarios of the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def content_of(source: str | Path) -> dict[str, Any]:
    """What a scenario says: one of the package, by name, or a file."""
    names = shipped()
    if str(source) in names:
        return parsed(names[str(source)])
    path = Path(source)
    if path.suffix == ".toml" or os.path.isfile(path):
        return parsed(path)
    near = [f"{source}.toml"] if os.path.isfile(f"{source}.toml") else names
    raise ScenarioError(
        f"scenario {str(source)!r} is not known{did_you_mean(source, near)}: give a .toml file, "
        f"or one of {', '.join(names)}"
    )


def parsed(path: Path) -> dict[str, Any]:
    """What a TOML file says."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path} is not TOML: {error}") from None


def parsed_value(text: str) -> Any:
    """A value as in a TOML file; what is none of those is a text."""
    try:
        content = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        if text[:1] in ("[", "{"):
            raise ScenarioError(
                f"{text} is no list or table of TOML: texts in it need quotes"
            ) from None
        return text
    return content["value"] if len(content) == 1 else text


def did_you_mean(given: object, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(given), sorted(set(known)), n=1)
    return f": did you mean {near[0]!r}?" if near else ""
