"""Read tables into configs, with one line for each key that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.parts import TABLE, VALUE, Part, members
from scenarios.errors import ScenarioError

Used = Mapping[str, set[str]]
"""The choices that the cells of a scenario make, by the path of the table."""

P = TypeVar("P", bound=Part)


def read(kind: type[P], table: Any, path: str = "", used: Used | None = None) -> P:
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

    Raises
    ------
    ScenarioError
        With a line for each key that is wrong.
    """
    if not isinstance(table, Mapping):
        raise ScenarioError(str(OptionError(path, "a table", table)))
    try:
        return kind.model_validate(_own_options([kind], table, path, used or {}))
    except ValidationError as error:
        lines = [_explain(kind, issue, path) for issue in error.errors()]
    raise ScenarioError("\n".join(dict.fromkeys(lines)))


def _own_options(kinds: list[type[Part]], table: Any, path: str, used: Used) -> Any:
    """Return the table without options that belong to other choices of the sweep."""
    part = _chosen(kinds, table)
    if part is None:
        return table
    others = [each for each in kinds if each.choice in used.get(path, ())]
    elsewhere = {name for each in others for name in each.model_fields}
    own = {}
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        field = part.model_fields.get(key)
        if field is not None:
            own[key] = _own_options(members(field.annotation), value, name, used)
        elif key not in elsewhere:
            own[key] = value
    return own


def _chosen(kinds: list[type[Part]], table: Any) -> type[Part] | None:
    if not isinstance(table, Mapping):
        return None
    return next((k for k in kinds if not k.chooser or table.get(k.chooser) == k.choice), None)


def _explain(kind: type[Part], issue: Any, path: str) -> str:
    """Return the line for one of pydantic's errors."""
    key, kinds, last = _locate(kind, issue["loc"], path)
    given, cause = issue["input"], issue["type"]
    if cause == "missing":
        line = f"{key} must be given"
    elif cause == "extra_forbidden":
        line = f"{key} {_not_an_option(last, kinds[0], kinds)}"
    elif cause.startswith("union_tag") and isinstance(given, Mapping):
        line = _wrong_choice(f"{key}.{kinds[0].chooser}", given.get(kinds[0].chooser), kinds)
    elif cause == "value_error":
        line = _wrong_value(key, issue["ctx"]["error"], kinds)
    elif kinds:
        example = next((each for each in kinds if each.choice == given), kinds[0])
        such = f' such as {{ {example.chooser} = "{example.choice}" }}' if example.chooser else ""
        line = str(OptionError(key, f"a table{such}", given))
    else:
        must = issue["msg"].removeprefix("Input should be ")
        line = str(OptionError(key, must.removeprefix("a valid "), given))
    return line


def _wrong_choice(key: str, given: Any, kinds: list[type[Part]]) -> str:
    choices = [each.choice for each in kinds]
    names = ", ".join(repr(each) for each in choices)
    if given is None:
        return f"{key} must be given: one of {names}"
    return str(OptionError(key, f"one of {names}", given, did_you_mean(given, choices)))


def _wrong_value(key: str, error: Exception, kinds: list[type[Part]]) -> str:
    """Return the message of a dataclass or validator, with the full key in front."""
    if isinstance(error, OptionError):
        known = kinds[0].model_fields if kinds else {}
        name = error.name
        if name.partition(".")[0] not in known:
            name = name.rpartition(".")[2]  # without the name of a class
        if not name or name.startswith("["):  # the value of the key itself
            return f"{key}{name} {error.explanation}"
        if name.replace("[", ".").partition(".")[0] in known:
            hint = " (to sweep it, list its values in [sweep])" * isinstance(error.value, list)
            return f"{key}.{name} {error.explanation}{hint}".lstrip(".")
    return f"{key}: {error}" if key else str(error)


def _locate(kind: type[Part], loc: tuple[Any, ...], path: str) -> tuple[str, list[type[Part]], str]:
    """Return the dotted key of an error, the configs of the table there, and the key's last part.

    Where pydantic discriminates a union, its location has the tag after the name of the field.
    The first config is the one that was chosen. An unknown key is located in its table's configs.
    """
    keys, kinds, last = [path] if path else [], [kind], ""
    rest = list(loc)
    while rest:
        last = rest.pop(0)
        keys.append(str(last))
        field = kinds[0].model_fields.get(last) if kinds else None
        if field is None:
            break
        kinds = members(field.annotation)
        tags = [each.choice for each in kinds] if len(kinds) > 1 else [TABLE, VALUE]
        if rest and rest[0] in tags and kinds:
            tag = rest.pop(0)
            kinds = sorted(kinds, key=lambda each: each.choice != tag)
    return ".".join(keys), kinds, str(last)


def _not_an_option(key: str, part: type[Part], kinds: list[type[Part]]) -> str:
    """Say that ``part`` has no such option, and what may have been meant."""
    owners = [each.choice for each in kinds if key in each.model_fields]
    if owners:
        return f"is a key of {', '.join(owners)}, not of {part.choice}"
    deeper = [
        f"{name}.{key}"
        for name, field in part.model_fields.items()
        if any(key in each.model_fields for each in members(field.annotation))
    ]
    known = list(part.model_fields)
    hint = f"; did you mean {deeper[0]!r}?" if deeper else did_you_mean(key, known)
    owner = f" of {part.choice}" if part.choice else ""
    return f"is not a key{owner}{hint or '; the keys are ' + ', '.join(known)}"
