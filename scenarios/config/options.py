"""The options of a user-defined class: what its annotations say, checked as our own are.

An option is a plain value, as a TOML file can hold it, or a table: one that describes a part of
ours, or a dataclass of the user's inside the class.
"""

from __future__ import annotations

import enum
import math
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, is_dataclass
from typing import Any, Literal, TypeGuard, Union, get_args, get_origin, get_type_hints

from otafl._base.validation import OptionError, boolean, number

Check = Callable[[str, Any], Any]
"""Validates an option, given its name and value."""


def text(name: str, given: Any) -> str:
    """Return a string."""
    if not isinstance(given, str):
        raise OptionError(name, "a string", given)
    return given


def plain_value(name: str, given: Any) -> Any:
    """Return a value that a TOML file can hold; refuse NaN."""
    if isinstance(given, float) and math.isnan(given):
        raise OptionError(name, "a number", given)
    if isinstance(given, Mapping):
        return {key: plain_value(f"{name}.{key}", each) for key, each in given.items()}
    if isinstance(given, list | tuple):
        kind = type(given)
        return kind(plain_value(f"{name}[{i}]", each) for i, each in enumerate(given))
    if not isinstance(given, bool | int | float | str):
        raise OptionError(name, "a plain value, as in a TOML file", given)
    return given


def _whole(name: str, given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise OptionError(name, "a whole number", given)
    return given


_PLAIN: dict[Any, Check] = {
    bool: boolean,
    int: _whole,
    float: lambda name, given: number(name, given, infinite=True),
    str: text,
}


def check_of(hint: Any) -> Check:
    """Return the function that validates an option with this annotation.

    >>> check_of(list[int])("sizes", [1, 2.5])
    Traceback (most recent call last):
        ...
    otafl._base.validation.OptionError: sizes[1] must be a whole number, got 2.5
    """
    kinds = without_none(hint)
    if len(kinds) < len(get_args(hint)) and is_union(hint):  # or None
        return or_none(check_of(kinds[0]) if len(kinds) == 1 else plain_value)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda name, given: _literal(name, given, arguments)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin in (list, tuple, Sequence) or hint in (list, tuple):
        return lambda name, given: _items(name, given, origin or hint, arguments)
    return plain_value


def or_none(check: Check) -> Check:
    """Return a function that accepts None as well."""
    return lambda name, given: None if given is None else check(name, given)


def _literal(name: str, given: Any, allowed: tuple[Any, ...]) -> Any:
    if not any(given == each and type(given) is type(each) for each in allowed):
        names = ", ".join(repr(each) for each in allowed)
        raise OptionError(name, f"one of {names}", given)
    return given


def _items(name: str, given: Any, kind: Any, arguments: tuple[Any, ...]) -> Any:
    if not isinstance(given, list | tuple):
        raise OptionError(name, "a list", given)
    checks: Sequence[Check]
    if not arguments:
        checks = [plain_value] * len(given)
    elif kind is tuple and arguments[-1] is not ...:
        if len(given) != len(arguments):
            raise OptionError(name, f"a list of {len(arguments)} values", given)
        checks = [check_of(each) for each in arguments]
    else:
        checks = [check_of(arguments[0])] * len(given)
    pairs = enumerate(zip(checks, given, strict=True))
    items = [check(f"{name}[{place}]", value) for place, (check, value) in pairs]
    return tuple(items) if kind is tuple else items


def is_class(hint: Any) -> TypeGuard[type]:
    """Return whether an annotation is a class; on Python 3.10, list[int] passes for one."""
    return isinstance(hint, type) and get_origin(hint) is None


def is_union(hint: Any) -> bool:
    """Return whether an annotation is a union."""
    return get_origin(hint) in (Union, types.UnionType)


def without_none(hint: Any) -> list[Any]:
    """Return the members of a union except None; the annotation itself if it is no union."""
    return [each for each in get_args(hint) if each is not type(None)] if is_union(hint) else [hint]


def hints_of(target: type) -> dict[str, Any]:
    """Return the annotations of a class by name, each by itself.

    One that cannot be resolved, such as a name that is imported for type checkers only, is left
    out.
    """
    found: dict[str, Any] = {}
    for cls in reversed(target.__mro__):
        names = vars(sys.modules.get(cls.__module__, types.ModuleType("")))
        for name, hint in vars(cls).get("__annotations__", {}).items():
            alone = type("alone", (), {"__annotations__": {name: hint}})
            try:
                found |= get_type_hints(alone, names, dict(vars(cls)))
            except Exception:  # an annotation is any expression, and may raise anything
                found.pop(name, None)
    return found


def default_of(field: Field) -> Any:
    """Return the default of a dataclass field; MISSING if it has none."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def refuse_option(field: Field, hint: Any, reserved: Callable[[str], bool]) -> str:
    """Say why a field of a user's class cannot be an option; empty if it can."""
    if field.name.startswith("_") or reserved(field.name):
        return f"its option {field.name!r} must have another name"
    if is_class(hint) and issubclass(hint, enum.Enum):
        return f"its option {field.name!r} must be a string, not an Enum"
    try:
        default = default_of(field)
    except Exception as error:  # the user's own function
        return f"the default of its option {field.name!r} raises {type(error).__name__}: {error}"
    if default is MISSING or default is None or is_dataclass(default):
        return ""
    try:
        plain_value(field.name, default)
    except OptionError:
        return f"the default of its option {field.name!r} must be a plain value, got {default!r}"
    return ""
