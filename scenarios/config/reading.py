"""Read tables into configs, with one line for each key that is wrong."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from otafl._base.added import EARLIER, SINCE, older
from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.code import Code
from scenarios.config.parts import FAILED, Part
from scenarios.config.tables import inner_table
from scenarios.errors import ScenarioError

Used = Mapping[str, set[str]]
"""The choices that the cells of a scenario make, by the path of the table."""

P = TypeVar("P", bound=Part)


def read(
    kind: type[P],
    table: Any,
    path: str = "",
    *,
    used: Used | None = None,
    code: Code | None = None,
    stored_by: str = "",
) -> P:
    """Return the config that a table describes.

    Parameters
    ----------
    kind : type of Part
    table : mapping
        Plain values, as in a TOML file.
    path : str
        The dotted key of the table, for messages.
    used : mapping of str to set of str, optional
        Where a sweep uses several choices, a table may have the options of all of them, and each
        choice takes those that it has.
    code : Code, optional
        Where references to user-defined parts lead; the current directory by default.
    stored_by : str
        The version that stored the table, if any: options that it did not have take the values that
        reproduce it.

    Raises
    ------
    ScenarioError
        With a line for each key that is wrong.
    """
    reader = Reader(code or Code(Path.cwd()), used or {}, stored_by)
    if not isinstance(table, Mapping):
        raise ScenarioError(str(OptionError(path, "a table", table)))
    part = reader.part(kind, table, path)
    if reader.lines:
        raise ScenarioError("\n".join(dict.fromkeys(reader.lines)))
    return part


@dataclass(frozen=True)
class Reader:
    """Reads the tables of one scenario and collects what is wrong.

    Attributes
    ----------
    code : Code
        Where references to user-defined parts lead.
    used, stored_by
        See :func:`read`.
    lines : list of str
        What is wrong.
    """

    code: Code
    used: Used
    stored_by: str = ""
    lines: list[str] = field(default_factory=list)

    def fail(self, line: str) -> Any:
        """Record what is wrong."""
        self.lines.append(line)
        return FAILED

    def part(
        self,
        kind: type[Part],
        table: Mapping,
        path: str,
        rivals: Sequence[type[Part]] = (),
        family: Sequence[type[Part]] = (),
    ) -> Any:
        """Return the config of a table, or ``FAILED``.

        Parameters
        ----------
        kind : type of Part
        table : mapping
        path : str
            The dotted key of the table.
        rivals : sequence of type of Part
            Configs whose options the table may have as well, since other cells use them.
        family : sequence of type of Part
            Configs that the table could have been read into, for messages.
        """
        elsewhere = {name for each in rivals for name in each.model_fields}
        own: dict[Any, Any] = self._earlier(kind)
        for key, value in table.items():
            inner = inner_table(kind, key)
            name = f"{path}.{key}" if path else str(key)
            if inner is not None:
                own[key] = inner.read(value, name, self)
            elif key in kind.model_fields or key not in elsewhere:
                a_file = key == kind.file_key and value not in kind.not_files
                own[key] = self._found(value) if a_file else value
        try:
            return kind.model_validate(own)
        except ValidationError as error:
            issues = [issue for issue in error.errors() if issue["type"] != "failed"]
        for issue in issues:
            self.lines.append(_explain(kind, issue, path, family))
        return FAILED

    def _earlier(self, kind: type[Part]) -> dict[str, Any]:
        """Return options that the storing version did not have, or with another default."""
        if not self.stored_by:
            return {}
        added: Any = {name: f.json_schema_extra for name, f in kind.model_fields.items()}
        return {
            name: each[EARLIER]
            for name, each in added.items()
            if each and older(self.stored_by, than=each[SINCE])
        }

    def _found(self, name: Any) -> Any:
        """Return the absolute path of a file beside the scenario, if there is one."""
        if isinstance(name, str) and name:
            path = self.code.folder / name
            if os.path.exists(path):
                return os.path.abspath(path)
        return name


def _explain(kind: type[Part], issue: Any, path: str, family: Sequence[type[Part]]) -> str:
    """Return the line for one of pydantic's errors."""
    loc, given, cause = issue["loc"], issue["input"], issue["type"]
    key = ".".join(filter(None, [path, *map(str, loc[:1])]))
    if cause == "missing":
        return f"{key} must be given"
    if cause == "extra_forbidden":
        return f"{key} {not_an_option(str(loc[0]), kind, family)}"
    if cause == "value_error":
        return _wrong_value(key, issue["ctx"]["error"], kind if not loc else None)
    must = issue["msg"].removeprefix("Input should be ")
    return str(OptionError(key, must.removeprefix("a valid "), given))


def _wrong_value(key: str, error: Exception, kind: type[Part] | None) -> str:
    """Return the message of a dataclass or validator, with the full key in front."""
    if isinstance(error, OptionError):
        error.explanation = error.explanation.replace("True or False", "true or false")
        known = kind.model_fields if kind else {}
        name = error.name
        if name.partition(".")[0] not in known:
            name = name.rpartition(".")[2]  # without the name of a class
        if not name or name.startswith("["):  # the value of the key itself
            return f"{key}{name} {error.explanation}{_hint(error.value)}"
        if name.replace("[", ".").partition(".")[0] in known:
            return f"{key}.{name} {error.explanation}{_hint(error.value)}".lstrip(".")
    return f"{key}: {error}" if key else str(error)


def _hint(value: Any) -> str:
    """Say what may have been meant by a value of the wrong type."""
    if isinstance(value, list):
        return " (to sweep it, list its values in [sweep])"
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            float(value)
            return "; drop the quotes"
    return ""


def not_an_option(key: str, part: type[Part], family: Sequence[type[Part]] = ()) -> str:
    """Say that a table has no such option, and what may have been meant."""
    owners = [each.choice for each in family if key in each.model_fields]
    if owners:
        return f"is a key of {', '.join(owners)}, not of {part.choice}"
    known = list(part.model_fields)
    deeper = [
        f"{name}.{key}"
        for name in known
        for inner in [inner_table(part, name)]
        if inner is not None and any(key in each.model_fields for each in inner.kinds)
    ]
    hint = f"; did you mean {deeper[0]!r}?" if deeper else did_you_mean(key, known)
    owner = f" of {part.choice}" if part.choice else ""
    return f"is not a key{owner}{hint or '; the keys are ' + ', '.join(known)}"
