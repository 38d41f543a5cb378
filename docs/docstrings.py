"""The docstrings of the house, which are plain text, as reStructuredText for the API reference.

- Lines ``name : what it is`` list parameters; continuation lines are indented.
- Indented text is a formula.
- ``Parameters`` and ``Examples`` with a line of hyphens below are headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PARAMETER = re.compile(r"(``)?\*{0,2}\w+(``)?(, (``)?\w+(``)?)* : ")
TABLE = re.compile(r"=+(\s+=+)+$")


def as_rst(lines: list[str]) -> list[str]:
    """A whole docstring."""
    done: list[str] = []
    for paragraph in _paragraphs(lines):
        done += [*_converted(paragraph), ""]
    return done


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line.rstrip())
        elif paragraph:
            yield paragraph
            paragraph = []


def _converted(paragraph: list[str]) -> list[str]:
    first = paragraph[0]
    if first.lstrip().startswith(">>>"):
        return paragraph
    if first.startswith(" "):
        own = [line.strip() for line in paragraph]
        return _parameters(own) if PARAMETER.match(own[0]) else ["::", "", *paragraph]
    if any(TABLE.match(line) for line in paragraph):
        return ["::", "", *("    " + line for line in paragraph)]
    if len(paragraph) > 1 and set(paragraph[1]) == {"-"}:
        heading = [] if first == "Parameters" else [f".. rubric:: {first}", ""]
        return heading + (_converted(paragraph[2:]) if paragraph[2:] else [])
    if PARAMETER.match(first):
        return _parameters(paragraph)
    return [_text(line) for line in paragraph]


def _parameters(paragraph: list[str]) -> list[str]:
    done: list[str] = []
    for line in paragraph:
        done += _parameter(line) if PARAMETER.match(line) else [f"    {_text(line.strip())}"]
    return done


def _parameter(line: str) -> list[str]:
    """An entry of a definition list: fields would be written with a capital."""
    names, _, what = line.partition(" : ")
    literal = ", ".join(f"``{name.strip('`*')}``" for name in names.split(", "))
    return [literal, f"    {_text(what)}"]


def _text(line: str) -> str:
    """With bars and asterisks that mean themselves, outside of ``literals`` and **bold**."""
    pieces = re.split(r"(``.*?``|\*\*\S.*?\S\*\*)", line)
    return "".join(
        piece if place % 2 else re.sub(r"([|*])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )


def _process(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def _signature(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """With the defaults that a dataclass makes anew for every instance."""
    if not is_dataclass(thing) or signature is None:
        return None
    for field in fields(thing):
        if field.default_factory is not MISSING:
            made = f"{field.name}={field.default_factory.__name__}()"
            signature = signature.replace(f"{field.name}=<factory>", made)
    return signature, result


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True}
