"""Tables of a scenario as frozen configs.

A table that describes an object of the package (a link, a fading, an algorithm) has exactly the
options of that object: its config mirrors the dataclass, so there is one list of options, of
defaults and of limits. Where a table can be one of several objects, a key such as ``kind`` or
``name``, the chooser, says which: the configs form a union that pydantic discriminates by that key.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    create_model,
    model_validator,
)

from otafl._base.validation import OptionError

NONE = "none"
"""How a scenario writes None, which TOML lacks."""

TABLE, VALUE = "table", "value"
"""Tags of a union of a table and a plain value."""


class Part(BaseModel):
    """A table: frozen, without coercion.

    Attributes
    ----------
    chooser, choice : str
        The key that says which of several objects a table describes, and its value for this one:
        the field that is a ``Literal``; empty where there is nothing to choose.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    chooser: ClassVar[str] = ""
    choice: ClassVar[str] = ""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        for name, field in cls.model_fields.items():
            if get_origin(field.annotation) is Literal:
                cls.chooser, cls.choice = name, field.default

    def settings(self) -> dict[str, Any]:
        """Return the table as plain values that a TOML file can hold."""
        return {name: written(getattr(self, name)) for name in type(self).model_fields}


class Mirror(Part):
    """The config of a dataclass, with the same options."""

    target: ClassVar[type]

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the dataclass's options."""
        return [name for name in cls.model_fields if name != cls.chooser]

    def build(self) -> Any:
        """Return the object that the table describes."""
        own = {name: getattr(self, name) for name in self.options()}
        return self.target(**{k: v.build() if isinstance(v, Mirror) else v for k, v in own.items()})

    @model_validator(mode="after")
    def _validate(self) -> Mirror:
        """Let the dataclass validate its options, and keep them as it normalises them."""
        try:
            built = self.build()
        except TypeError as error:
            raise ValueError(str(error)) from error
        except (OverflowError, MemoryError) as error:
            raise ValueError(f"a number is too large: {error}") from error
        if is_dataclass(built):
            plain = (name for name in self.options() if not isinstance(getattr(self, name), Part))
            self.__dict__.update({name: getattr(built, name) for name in plain})
        return self


class Row(Mirror):
    """Several objects in a fixed order, each in a table under its own name, or absent."""

    target: ClassVar[type] = tuple

    def build(self) -> tuple[Any, ...]:
        """Return the objects that are present, in order."""
        each = (getattr(self, name) for name in self.options())
        return tuple(part.build() for part in each if part is not None)

    def settings(self) -> dict[str, Any]:
        """Return the tables that are present."""
        own = {name: written(getattr(self, name)) for name in self.options()}
        return {name: value for name, value in own.items() if value != NONE}


def row(**kinds: type[Part]) -> type[Row]:
    """Return a config for a tuple of objects, in this order."""
    options: dict[str, Any] = {name: (optional(kind), None) for name, kind in kinds.items()}
    return create_model("RowConfig", __base__=Row, **options)


def mirror(target: type, chooser: str = "", choice: str = "", **types: Any) -> type[Mirror]:
    """Return a config for a dataclass.

    Parameters
    ----------
    target : type
        The dataclass; it validates its own options.
    chooser, choice : str
        The key that selects it among several, and its value.
    **types
        Configs of the options that are objects themselves.
    """
    options: dict[str, Any] = {chooser: (Literal[choice], choice)} if chooser else {}
    hints = get_type_hints(target)
    for field in fields(target):
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        kind = types.get(field.name) or _plain_type(hints[field.name])
        if is_dataclass(default):
            default = _mirrored(default, kind)
        elif isinstance(kind, type) and issubclass(kind, Row):
            default = kind()
        options[field.name] = (kind, ... if default is MISSING else default)
    config = create_model(f"{target.__name__}Config", __base__=Mirror, **options)
    config.target = target
    return config


def _plain_type(hint: Any) -> Any:
    """Return the type of an option that the dataclass validates."""
    if get_origin(hint) is tuple:
        return Annotated[Any, BeforeValidator(_as_tuple)]
    return Annotated[Any, BeforeValidator(_as_none)] if NoneType in get_args(hint) else Any


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _as_none(value: Any) -> Any:
    return None if isinstance(value, str) and value == NONE else value


def _mirrored(instance: Any, kind: Any) -> Mirror:
    """Return the config, one of ``kind``, that builds ``instance``."""
    config = next(each for each in members(kind) if getattr(each, "target", None) is type(instance))
    return config(**{field.name: getattr(instance, field.name) for field in fields(instance)})  # type: ignore[return-value]


def one_of(*kinds: type[Part]) -> Any:
    """Return the union of configs that their chooser tells apart."""
    return Annotated[functools.reduce(operator.or_, kinds), Field(discriminator=kinds[0].chooser)]


def table_or(value: Any, kind: type[Part]) -> Any:
    """Return the union of a plain value and a table."""
    return Annotated[
        Annotated[value, Tag(VALUE)] | Annotated[kind, Tag(TABLE)],
        Discriminator(lambda given: TABLE if isinstance(given, Mapping | Part) else VALUE),
    ]


def checked(validate: Callable[..., Any], **limits: Any) -> Any:
    """Return the type of a value that a function of ``otafl._base.validation`` validates."""
    return Annotated[Any, PlainValidator(lambda given: validate("", given, **limits))]


def _absent(name: str, given: Any, must: str) -> None:
    if _as_none(given) is not None:
        raise OptionError(name, must, given)


def optional(kind: type[Part]) -> Any:
    """Return the union of a table and "none"."""
    return table_or(checked(_absent, must="a table"), kind)


NOTHING: Any = checked(_absent, must="left out here")
"""The type of an option that a table does not offer."""


def members(kind: Any) -> list[type[Part]]:
    """Return the configs that a field of this type may hold."""
    if get_origin(kind) is None and isinstance(kind, type) and issubclass(kind, Part):
        return [kind]
    if get_origin(kind) in (Annotated, Union, UnionType):
        return [part for each in get_args(kind) for part in members(each)]
    return []


def written(value: Any) -> Any:
    """Return a value as a TOML file holds it."""
    if value is None:
        return NONE
    if isinstance(value, Part):
        return value.settings()
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    return value
