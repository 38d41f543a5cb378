"""Describe objects as text that is the same in every process, to tell one run from another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial, singledispatch
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, np.ndarray, np.generic)


def digest(*arrays: NDArray) -> str:
    """Return a digest of the content of arrays."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(f"{array.dtype}{array.shape}".encode())
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()[:16]


@singledispatch
def description(thing: Any) -> str:
    """Describe settings, algorithms, links or functions, with everything that they hold.

    A function is identified by its code and its closure, not by the globals that it looks up, a
    dataclass by the fields that it is compared by.

    >>> description([1, np.float64(0.5), "a"])
    "[1, 0.5, 'a']"
    """
    if is_dataclass(thing):
        held = {field.name: getattr(thing, field.name) for field in fields(thing) if field.compare}
    elif type(thing).__repr__ is not object.__repr__:
        return _without_addresses(repr(thing))
    else:  # other attributes may be objects of any library
        attributes = getattr(thing, "__dict__", {})
        held = {name: value for name, value in attributes.items() if isinstance(value, PLAIN)}
    return f"{description(type(thing))}{description(held)}"


@description.register(type)
def _(thing: type) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


@description.register(np.generic)
def _(thing: np.generic) -> str:
    return description(thing.item())


@description.register(np.ndarray)
def _(thing: NDArray) -> str:
    return f"array({thing.shape}, {digest(thing)})"


@description.register(list)
@description.register(tuple)
def _(thing: list | tuple) -> str:
    return f"[{', '.join(description(each) for each in thing)}]"


@description.register(Mapping)
def _(thing: Mapping) -> str:
    return f"({', '.join(f'{name}={description(value)}' for name, value in thing.items())})"


@description.register(partial)
def _(thing: partial) -> str:
    return f"partial({description([thing.func, thing.args, thing.keywords])})"


@description.register(FunctionType)
def _(thing: FunctionType) -> str:
    code = thing.__code__
    inside = hashlib.sha256(code.co_code)
    inside.update(_without_addresses(repr((code.co_consts, code.co_names))).encode())
    enclosed = [cell.cell_contents for cell in thing.__closure__ or ()]
    held = description([thing.__defaults__, thing.__kwdefaults__, enclosed])
    return f"{thing.__module__}.{thing.__qualname__}({inside.hexdigest()[:16]}, {held})"


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
