"""Tables of a scenario as frozen configs, and how they are read.

A table that stands for a thing of the package (a link, a fading, an algorithm) has exactly the
options of that thing: its config is made from the dataclass, so there is one list of options, one
of defaults and one of limits. Where there are several such things, a key such as ``kind`` or
``name``, the chooser, says which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from scenarios.library import ScenarioError, did_you_mean

NONE = "none"
"""How a scenario writes None, for which TOML has no word."""

Used = Mapping[str, set[str]]
"""The choices that a scenario makes use of in its cells, by the name of the table."""


class Part(BaseModel):
    """A table: frozen, without coercion.

    chooser, choice : the key that says which of several things a table is, and its value for this
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    chooser: ClassVar[str] = ""
    choice: ClassVar[str] = ""

    def settings(self) -> dict[str, Any]:
        """As plain values that a TOML file can hold."""
        own = {name: _written(getattr(self, name)) for name in type(self).model_fields}
        return {self.chooser: self.choice, **own} if self.chooser else own


class Mirror(Part):
    """The config of a dataclass, with its options under its names."""

    target: ClassVar[type]

    def build(self) -> Any:
        """The thing itself."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return self.target(**{k: v.build() if isinstance(v, Mirror) else v for k, v in own.items()})

    @model_validator(mode="after")
    def _hold_to_the_limits(self) -> Mirror:
        try:
            self.build()
        except (OverflowError, MemoryError) as error:
            raise ValueError(f"too large a number: {error}") from error
        return self


class Row(Mirror):
    """Several things in their order, each in a table under its own name, or not there."""

    target: ClassVar[type] = tuple

    def build(self) -> tuple[Any, ...]:
        each = (getattr(self, name) for name in type(self).model_fields)
        return tuple(part.build() for part in each if part is not None)

    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in super().settings().items() if value != NONE}


def row(**kinds: Any) -> type[Row]:
    """A config for a tuple of things, in this order."""
    options: dict[str, Any] = {name: (kind | None, None) for name, kind in kinds.items()}
    return create_model("RowConfig", __base__=Row, **options)


def mirror(target: type, chooser: str = "", choice: str = "", **types: Any) -> type[Mirror]:
    """A config for the dataclass ``target``.

    types : of the options that are things themselves, the configs of those
    """
    hints = get_type_hints(target)
    options: dict[str, Any] = {}
    for field in fields(target):
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        kind = types.get(field.name, hints[field.name])
        if get_origin(kind) is tuple:
            kind = Annotated[kind, Field(strict=False)]  # a list in a file
        if is_dataclass(default):
            default = _mirrored(default, kind)
        elif isinstance(kind, type) and issubclass(kind, Row):
            default = kind()
        options[field.name] = (kind, ... if default is MISSING else default)
    config = create_model(f"{target.__name__}Config", __base__=Mirror, **options)
    config.target, config.chooser, config.choice = target, chooser, choice
    return config


def _mirrored(thing: Any, kind: Any) -> Mirror:
    """The config, one of ``kind``, that builds ``thing``."""
    config = next(each for each in members(kind) if getattr(each, "target", None) is type(thing))
    return config(**{field.name: getattr(thing, field.name) for field in fields(thing)})  # type: ignore[return-value]


def members(kind: Any) -> list[type[Part]]:
    """The configs that a field of this type may hold."""
    if get_origin(kind) is None and isinstance(kind, type) and issubclass(kind, Part):
        return [kind]
    if get_origin(kind) in (Annotated, Union, UnionType):
        return [part for each in get_args(kind) for part in members(each)]
    return []


def read(kinds: Sequence[type[Part]], table: Any, path: str, used: Used) -> Part:
    """The config that ``table``, which stands at ``path``, describes.

    Where a sweep makes use of several choices, a table may have the options of all of them, and
    each choice takes those that it has.
    """
    if not isinstance(table, Mapping):
        meant = next((kind for kind in kinds if kind.choice == table), kinds[0])
        such = f' such as {{ {meant.chooser} = "{meant.choice}" }}' if meant.chooser else ""
        raise ScenarioError(f"{path} = {table!r} is not allowed: give a table{such}")
    part = _chosen(kinds, table, path)
    own = {key: value for key, value in table.items() if key != part.chooser or not part.chooser}
    others = [each for each in kinds if each.choice in used.get(path, ())]
    elsewhere = {name for each in others for name in each.model_fields}
    problems: list[str] = []
    values: dict[str, Any] = {}
    for key, value in own.items():
        name = f"{path}.{key}" if path else key
        field = part.model_fields.get(key)
        if field is None:
            if key not in elsewhere:
                problems.append(f"{name} is not known{_hint(key, part, kinds)}")
            continue
        inner = members(field.annotation)
        only_tables = inner and len(inner) == len(get_args(field.annotation) or [part])
        try:
            nested = inner and (only_tables or isinstance(value, Mapping))
            values[key] = read(inner, value, name, used) if nested else value
        except ScenarioError as error:
            problems.append(str(error))
        if value == NONE and type(None) in get_args(field.annotation):
            values[key] = None
    if not problems:
        try:
            return part(**values)
        except ValidationError as error:
            problems = _explained(error, path)
    raise ScenarioError("\n".join(problems))


def _hint(key: str, part: type[Part], kinds: Sequence[type[Part]]) -> str:
    """What may have been meant by a key that ``part`` does not have."""
    owners = [each.choice for each in kinds if key in each.model_fields]
    if owners:
        return f": it is an option of {', '.join(owners)}, not of {part.choice}"
    known = [*filter(None, [part.chooser]), *part.model_fields]
    deeper = [
        f"{name}.{key}"
        for name, field in part.model_fields.items()
        if any(key in each.model_fields for each in members(field.annotation))
    ]
    if deeper:
        return f": did you mean {deeper[0]!r}?"
    return did_you_mean(key, known) or f": give one of {', '.join(known)}"


def _chosen(kinds: Sequence[type[Part]], table: Mapping[str, Any], path: str) -> type[Part]:
    if len(kinds) == 1 and not kinds[0].chooser:
        return kinds[0]
    chooser = kinds[0].chooser
    by_choice = {each.choice: each for each in kinds}
    given = table.get(chooser)
    if isinstance(given, str) and given in by_choice:
        return by_choice[given]
    said, hint = "is missing", ""
    if chooser in table:
        said, hint = f"= {given!r} is not allowed", did_you_mean(given, by_choice)
    raise ScenarioError(f"{path}.{chooser} {said}: give one of {', '.join(by_choice)}{hint}")


def _explained(error: ValidationError, path: str) -> list[str]:
    """A line for each key that is wrong."""
    problems: dict[str, list[str]] = defaultdict(list)
    values: dict[str, Any] = {}
    for issue in error.errors():
        name, *places = issue["loc"] or ("",)
        index = "".join(f"[{place}]" for place in places[-1:] if isinstance(place, int))
        key = f"{path}.{name}".strip(".") + index
        if issue["type"] == "missing":
            problems[f"{key} is missing"] = []
        elif issue["type"] == "value_error":
            said = str(issue["ctx"]["error"])
            problems[f"{key}: {said}" if key else said] = []
        else:
            message = issue["msg"][0].lower() + issue["msg"][1:]
            if issue["type"] == "model_type":
                message = "it may be a table"
            if issue["type"] == "sequence_str":  # a text is no list, nobody thought so
                continue
            values.setdefault(key, issue["input"])
            problems[f"{key} = {values[key]!r} is not allowed"].append(message)
    return [": ".join([said, ", or ".join(why)]) if why else said for said, why in problems.items()]


def _written(value: Any) -> Any:
    if value is None:
        return NONE
    if isinstance(value, Part):
        return value.settings()
    if isinstance(value, tuple | list):
        return [_written(each) for each in value]
    return value


def flat(tables: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """By dotted key."""
    result: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{path}{name}.")
        else:
            result[f"{path}{name}"] = value
    return result


def set_key(tables: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key, making tables on the way."""
    *way, last = key.split(".")
    for depth, name in enumerate(way):
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            raise ScenarioError(f"{key} cannot be set: {'.'.join(way[: depth + 1])} is no table")
    tables[last] = value
