"""Validation at the boundaries: every error names the field, the value and what is allowed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

Scalars = float | Sequence[float]
"""One value for all, or one for each (client, trial, ...)."""


def number(
    field: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    infinite: bool = False,
) -> float:
    """A finite float with ``value >= least`` and ``value > above``; +inf passes if ``infinite``."""
    allowed = "a finite number"
    if least > -math.inf:
        allowed += f" >= {least:g}"
    if above > -math.inf:
        allowed += f" > {above:g}"
    if infinite:
        allowed += ", or inf"
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    result = float(value) if real else math.nan
    finite = math.isfinite(result) or (infinite and result == math.inf)
    if not finite or result < least or result <= above:
        raise ValueError(f"{field} = {value!r} is not allowed: give {allowed}")
    return result


def numbers_each(field: str, value: Any, **limits: Any) -> float | tuple[float, ...]:
    """One number, or a non-empty sequence of them as a tuple."""
    if not isinstance(value, Iterable) or isinstance(value, str) or getattr(value, "ndim", 1) == 0:
        return number(field, value.item() if hasattr(value, "item") else value, **limits)
    items = tuple(
        number(f"{field}[{i}]", v.item() if hasattr(v, "item") else v, **limits)
        for i, v in enumerate(value)
    )
    if not items:
        raise ValueError(f"{field} = {value!r} is not allowed: give one number, or one for each")
    return items


def integer(field: str, value: Any, *, least: int) -> int:
    """A whole number with ``value >= least``."""
    whole = isinstance(value, int | numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{field} = {value!r} is not allowed: give a whole number >= {least}")
    return int(value)


def choice(field: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the ``allowed`` strings."""
    if value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{field} = {value!r} is not allowed: give one of {names}")
    return str(value)


def assign(instance: Any, **values: Any) -> None:
    """Set validated values on a frozen dataclass, from its ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
