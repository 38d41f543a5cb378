"""Tables of a scenario as frozen configs.

A table that describes an object (a link, a fading, an algorithm) has exactly the options of that
object: its config mirrors the dataclass, so there is one list of options, of defaults and of
limits. :mod:`scenarios.config.tables` says which config a table is read into.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    create_model,
    model_validator,
)
from pydantic import Field as Option
from pydantic_core import PydanticCustomError

from otafl._base.added import ALWAYS, EARLIER, SINCE, metadata_of
from otafl._base.validation import OptionError
from scenarios.config.options import (
    check_of,
    default_of,
    hints_of,
    is_class,
    is_union,
    or_none,
    without_none,
)
from scenarios.errors import explain

NONE = "none"
"""How a scenario writes None, which TOML lacks."""


class Part(BaseModel):
    """A table: frozen, without coercion.

    Attributes
    ----------
    chooser, choice : str
        The key that says which of several objects a table describes, and its value for this one:
        the field that is a ``Literal``; empty where there is nothing to choose.
    file_key : str
        The key that names a file whose content ``sha256`` identifies; empty if there is none.
    not_files : tuple of str
        Values of that key that are never files.
    code : mapping of str to str
        SHA-256 of the files of a user-defined part, by name; empty for our own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    chooser: ClassVar[str] = ""
    choice: ClassVar[str] = ""
    file_key: ClassVar[str] = ""
    not_files: ClassVar[tuple[str, ...]] = ()
    code: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        for name, field in cls.model_fields.items():
            if get_origin(field.annotation) is Literal:
                cls.chooser, cls.choice = name, field.default

    def settings(self) -> dict[str, Any]:
        """Return the table as plain values that a TOML file can hold."""
        return {name: written(getattr(self, name)) for name in type(self).model_fields}

    def identity(self) -> dict[str, Any]:
        """Return the settings that tell this table from others with other results.

        An option that was added later is left out at the value that reproduces earlier versions,
        and a file counts by its content, not by its name.
        """
        same = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            added: Any = field.json_schema_extra
            new = added and not added[ALWAYS]
            if new and written(value) == written(added[EARLIER]):
                continue
            if name == self.file_key and self.__dict__.get("sha256"):
                continue
            same[name] = value.identity() if isinstance(value, Part) else written(value)
        return same

    def all_code(self) -> dict[str, str]:
        """Return the SHA-256 of all user-defined files behind this table and those inside it."""
        found = dict(self.code)
        for value in self.inside():
            found |= value.all_code()
        return found

    def inside(self) -> list[Part]:
        """Return the tables inside this one."""
        values = [getattr(self, name) for name in type(self).model_fields]
        return [value for value in values if isinstance(value, Part)]


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
        built = {name: v.build() if isinstance(v, Mirror | Row) else v for name, v in own.items()}
        return self.target(**built)

    @model_validator(mode="after")
    def _validate(self) -> Mirror:
        """Let the dataclass validate its options, and keep them as it normalises them."""
        with construction(self.code):
            built = self.build()
        ours = is_dataclass(built) and not self.code  # a user's class may convert its options
        for name in self.options() if ours else ():
            if not isinstance(getattr(self, name), Part):
                self.__dict__[name] = getattr(built, name)
        return self


@contextlib.contextmanager
def construction(code: Mapping[str, str]) -> Iterator[None]:
    """Turn what the constructor of a class raises into a ValueError."""
    try:
        yield
    except ValueError:
        raise
    except (OverflowError, MemoryError) as error:
        raise ValueError(f"a number is too large: {error}") from error
    except TypeError as error:
        raise ValueError(explain(error, code)) from error
    except (Exception, SystemExit) as error:
        if not code:
            raise
        raise ValueError(explain(error, code)) from error


class Row(Part):
    """Several objects in order, each in a table under its own name.

    Attributes
    ----------
    parts : tuple of (str, Mirror)
        Names and configs, in the order of the objects.
    """

    parts: tuple[tuple[str, Any], ...] = ()

    def build(self) -> tuple[Any, ...]:
        """Return the objects, in order."""
        return tuple(part.build() for _, part in self.parts)

    def settings(self) -> dict[str, Any]:
        """Return the tables by name."""
        return {name: part.settings() for name, part in self.parts}

    def identity(self) -> dict[str, Any]:
        """Return the identities of the tables by name, and the order of those of the user's."""
        same: dict[str, Any] = {name: part.identity() for name, part in self.parts}
        users = [name for name, part in self.parts if part.choice]
        return {**same, "order": users} if len(users) > 1 else same

    def inside(self) -> list[Part]:
        """Return the tables."""
        return [part for _, part in self.parts]


def mirror(
    target: type,
    chooser: str = "",
    choice: str = "",
    *,
    code: Mapping[str, str] | None = None,
    base: type[Part] = Mirror,
    without: tuple[str, ...] = (),
    **types: Any,
) -> type[Any]:
    """Return a config for a dataclass.

    Parameters
    ----------
    target : type
        The dataclass; it validates its own options. A class without options need not be one.
    chooser, choice : str
        The key that selects it among several, and its value.
    code : mapping of str to str, optional
        SHA-256 of the files of a user-defined class. Its options are validated by their types, too.
    base : type
        Base class of the config.
    without : tuple of str
        Options that the config does not have.
    **types
        Configs of the options that are objects themselves.
    """
    options: dict[str, Any] = {chooser: (Literal[choice], choice)} if chooser else {}
    hints = hints_of(target)
    for field in fields(target) if is_dataclass(target) else ():
        if not field.init or field.name in without:
            continue
        hint = hints.get(field.name, Any)
        kind = types.get(field.name) or _type_of(field, hint, user=code is not None)
        options[field.name] = (kind, _default(field, kind))
    config = create_model(f"{target.__name__}Config", __base__=base, **options)
    config.target = target  # type: ignore[attr-defined]
    config.code = code or {}
    return config


def _default(field: Field, kind: Any) -> Any:
    """Return the default of a dataclass field, as a default of its config."""
    value = default_of(field)
    extra = metadata_of(field)
    if value is MISSING:
        return Option(..., json_schema_extra=extra)
    table = table_of(kind)
    if table is not None and value is not None:
        value = table.mirrored(value)
    return Option(value, json_schema_extra=extra)


def _type_of(field: Field, hint: Any, user: bool) -> Any:
    """Return the type of an option from its field and annotation."""
    kinds = without_none(hint)
    none = len(kinds) < len(get_args(hint)) and is_union(hint)
    table = _table_for(field.name, kinds[0]) if len(kinds) == 1 else None
    if table is not None:
        return field_type(table, none=none)
    nothing = NoneType in get_args(hint) or field.default is None
    check = or_none(check_of(hint)) if nothing else check_of(hint)
    plain: Any = checked(check) if user else Any
    if get_origin(hint) is tuple:
        plain = Annotated[plain, BeforeValidator(_as_tuple)]
    if nothing:
        plain = Annotated[plain, BeforeValidator(_as_none)]
    return plain


TABLES: dict[type, Any] = {}
"""The tables of options that are objects, by the class or protocol that annotates them."""

ROWS: dict[tuple[str, type], Any] = {}
"""The tables of options that are sequences of objects, by the option's name and their class."""


def _table_for(name: str, hint: Any) -> Any:
    """Return what kind of table an option is, from its name and annotation; None if it is none."""
    if is_class(hint):
        return TABLES.get(hint)
    rows = [ROWS[name, each] for each in get_args(hint) if (name, each) in ROWS]
    return rows[0] if rows else None


FAILED = object()
"""Stands for a table in which something is wrong."""


def field_type(table: Any, none: bool = False) -> Any:
    """Return the type of a field that holds a table, or None if ``none`` says so."""

    def accept(given: Any) -> Any:
        if given is FAILED:
            raise PydanticCustomError("failed", "what is wrong has been said")
        if none and _as_none(given) is None:
            return None
        return given if isinstance(given, Part) else table.accept(given)

    return Annotated[Any, table, PlainValidator(accept)]


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _as_none(value: Any) -> Any:
    return None if isinstance(value, str) and value == NONE else value


def checked(validate: Callable[..., Any], **limits: Any) -> Any:
    """Return the type of a value that a function of ``otafl._base.validation`` validates."""
    return Annotated[Any, PlainValidator(lambda given: validate("", given, **limits))]


def absent(name: str, given: Any, must: str) -> None:
    """Refuse anything but None or "none"."""
    if _as_none(given) is not None:
        raise OptionError(name, must, given)


def later(since: str, *, default: Any, earlier: Any) -> Any:
    """Return the default of an option that was added later; see :mod:`otafl._base.added`."""
    return Option(default, json_schema_extra={SINCE: since, EARLIER: earlier, ALWAYS: False})


HIDDEN = "hidden"
NOTHING: Any = Annotated[checked(absent, must="left out here"), HIDDEN]
"""The type of an option that a table does not offer."""


def table_of(kind: Any) -> Any:
    """Return the table that a field's type holds, if any."""
    found = [each for each in getattr(kind, "__metadata__", ()) if hasattr(each, "mirrored")]
    return found[0] if found else None


def written(value: Any) -> Any:
    """Return a value as a TOML file holds it."""
    if value is None:
        return NONE
    if isinstance(value, Part):
        return value.settings()
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value
