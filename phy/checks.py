"""Validation at the boundaries: every error names the field, the value and what is allowed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scalars = float | Sequence[float]
"""One value for all, or one for each (client, trial, ...)."""


def number(
    field: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    infinite: bool = False,
) -> float:
    """A finite float with ``above < value`` and ``least <= value <= most``.

    ``infinite`` lets +inf pass.
    """
    given = value.item() if getattr(value, "ndim", None) == 0 else value
    real = isinstance(given, numbers.Real) and not isinstance(given, bool)
    result = float(given) if real else math.nan
    if infinite and result == math.inf:
        return result
    if not math.isfinite(result) or result < least or result <= above or result > most:
        limits = ((">", above), (">=", least), ("<=", most))
        bounds = [f"{sign} {limit:g}" for sign, limit in limits if math.isfinite(limit)]
        allowed = " ".join(["a finite number", " and ".join(bounds)]).strip()
        allowed += ", or inf" if infinite else ""
        raise ValueError(f"{field} = {value!r} is not allowed: give {allowed}")
    return result


def numbers_each(field: str, value: Any, **limits: Any) -> float | tuple[float, ...]:
    """One number, or a non-empty flat sequence of them as a tuple."""
    many = isinstance(value, list | tuple | range) or getattr(value, "ndim", 0) > 0
    if not many:
        return number(field, value, **limits)
    if len(value) == 0 or getattr(value, "ndim", 1) > 1:
        shape = f" of shape {value.shape}" if hasattr(value, "shape") else ""
        raise ValueError(f"{field} = {value!r}{shape} is not allowed: give a number or a list")
    return tuple(number(f"{field}[{i}]", v, **limits) for i, v in enumerate(value))


def integer(field: str, value: Any, *, least: int) -> int:
    """A whole number with ``value >= least``."""
    given = value.item() if getattr(value, "ndim", None) == 0 else value
    whole = isinstance(given, int | numbers.Integral) and not isinstance(given, bool)
    if not whole or given < least:
        raise ValueError(f"{field} = {value!r} is not allowed: give a whole number >= {least}")
    return int(given)


def choice(field: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the ``allowed`` strings."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{field} = {value!r} is not allowed: give one of {names}")
    return value


def instance_with(field: str, value: Any, method: str, examples: str) -> None:
    """An object, not a class, that has ``method``."""
    if isinstance(value, type) or not hasattr(value, method):
        raise ValueError(f"{field} = {value!r} is not allowed: give an object such as {examples}")


def real_array(field: str, value: Any) -> NDArray:
    """A NumPy array of real numbers, float32 where it was that and else float64."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged
        raise ValueError(f"{field} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{field} of type {array.dtype} is not allowed: give real numbers")
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def assign(instance: Any, **values: Any) -> None:
    """Set validated values on a frozen dataclass, from its ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
