"""Find and read scenario files; imports little, so that the command line responds at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from otafl._base.names import did_you_mean
from scenarios.errors import ScenarioError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIBRARY = Path(__file__).parents[1] / "library"
STUDY_FILE = "scenario.toml"
"""Name of the scenario file in a study's directory."""
INDEX_FILE = "study.json"
"""Name of the file that says which cells a study has."""
CODE_FOLDER = "code"
"""Name of the folder with copies of the user's files in a study's directory."""


def bundled() -> dict[str, Path]:
    """Return the files of the bundled scenarios by name."""
    return {path.stem: path for path in sorted(LIBRARY.glob("*.toml"), key=lambda path: path.stem)}


def read_source(source: str | Path) -> dict[str, Any]:
    """Return the content of a bundled scenario, given by name, or of a scenario file."""
    names = bundled()
    if str(source) in names:
        return read_toml(names[str(source)])
    path = Path(source)
    if path.suffix == ".toml" or os.path.isfile(path):
        return read_toml(path)
    if os.path.isdir(path):
        raise ScenarioError(f"{source} is a directory without a study: name one, or a .toml file")
    near = [f"{source}.toml"] if os.path.isfile(f"{source}.toml") else names
    raise ScenarioError(
        f"scenario must be a .toml file or one of {', '.join(names)}, "
        f"got {str(source)!r}{did_you_mean(source, near)}"
    )


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML document."""
    return tomllib.loads(text)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path} is not valid TOML: {error}") from None


def parse_value(text: str) -> Any:
    """Return ``text`` as a TOML value; anything that is not one is a string.

    >>> parse_value("[0, 10]"), parse_value("ofdm")
    ([0, 10], 'ofdm')
    """
    try:
        content = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        if text[:1] in ("[", "{"):
            raise ScenarioError(
                f"{text} is not a valid TOML list or table: strings in it need quotes"
            ) from None
        return text
    return content["value"] if len(content) == 1 else text
