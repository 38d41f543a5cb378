"""The parts that a scenario can name, with their options and defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from otafl._base.validation import OptionError
from scenarios.config.code import Code
from scenarios.config.data import DATASETS
from scenarios.config.link import RECEIVE, TRANSMIT
from scenarios.config.objects import CATALOGUES
from scenarios.config.parts import HIDDEN, Part, written
from scenarios.config.training import TrainingConfig

KEYS = {
    "algorithm": "algorithm.name",
    "model": "model.name",
    "link": "link.kind",
    "fading": "link.fading.kind",
    "csi": "link.csi.kind",
    "partition": "data.partition",
    "downlink": "downlink.kind",
    "dataset": "data.name",
    "impairment": "link.transmit.NAME.kind, link.receive.NAME.kind",
    "participation": "participation.kind",
}
"""Where a scenario names a part of each kind."""


def print_parts() -> None:
    """Print every part that a scenario can name."""
    for line in listed():
        print(line)


def listed() -> Iterator[str]:
    """Yield the lines of the list."""
    code = Code(Path.cwd())
    for catalogue in CATALOGUES:
        if not catalogue.names:
            continue
        yield f"{KEYS[catalogue.kind]}"
        for name in catalogue.names:
            try:
                options = _options(catalogue.find(name, code))
            except OptionError as error:  # a package that is broken
                options = f"cannot be used: it {error.explanation}"
            origin = _origin(catalogue.offered.get(name, []))
            yield f"  {name}{origin}: {options}"
    for side, chain in (("transmit", TRANSMIT), ("receive", RECEIVE)):
        yield f"link.{side}"
        for name, config in chain.named.items():
            yield f"  {name}: {_options(config)}"
    yield f"training: {_options(TrainingConfig)}"
    yield f"data.name: {', '.join(DATASETS)}, a file or a folder"
    yield ""
    yield 'Where a name is given, "file.py:Class" or "package.module:Class" names a class of yours.'


def _origin(points: list[Any]) -> str:
    packages = sorted({point.dist.name for point in points if point.dist is not None})
    return f" (from {', '.join(packages)})" if points else ""


def _options(config: type[Part]) -> str:
    """Return the options of a part in one line, as a scenario file has them."""
    parts = []
    for name, field in config.model_fields.items():
        if name == config.chooser or HIDDEN in field.metadata or name == "sha256":
            continue
        default = " (required)" if field.is_required() else f" = {_toml(field.default)}"
        parts.append(f"{name}{default}")
    return ", ".join(parts) or "no options"


def _toml(default: Any) -> str:
    """Return a default as in a file; a part by its name alone."""
    if isinstance(default, Part) and default.choice:
        return f'{{ {default.chooser} = "{default.choice}" }}'
    value = written(default)
    if isinstance(value, dict):
        inside = ", ".join(f"{name} = {_toml(each)}" for name, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)
