"""Validate arguments where they enter: every error says "NAME must be ..., got ..."."""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otafl._base.names import did_you_mean

Scalars = float | Sequence[float]
"""A scalar, or one value per client."""


class OptionError(ValueError):
    """An option or argument that is not what it must be.

    Parameters
    ----------
    name : str
        The option, with the class that has it where that is not obvious.
    must : str
        What it must be: the words after "must be".
    value : object
        What was given.
    hint : str
        Appended to the message.
    got : str, optional
        Describes what was given, where its value alone would not say what is wrong.
    """

    def __init__(
        self, name: str, must: str, value: Any = None, hint: str = "", *, got: str | None = None
    ) -> None:
        given = reprlib.repr(value) if got is None else got
        self.name, self.value, self.explanation = name, value, f"must be {must}, got {given}{hint}"
        super().__init__(f"{name} {self.explanation}")

    def rename(self, name: str) -> None:
        """Let the message name the option as the user gave it."""
        self.name, self.args = name, (f"{name} {self.explanation}",)


class OutOfRangeError(OptionError):
    """Signals beyond what a link can carry: training takes it for divergence."""


def number(
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    infinite: bool = False,
) -> float:
    """Return a float with ``above < value`` and ``least <= value <= most``.

    It must be finite, unless ``infinite`` admits +inf.

    >>> number("rate", np.float32(0.5), above=0)
    0.5
    >>> number("rate", 0, above=0)
    Traceback (most recent call last):
        ...
    otafl._base.validation.OptionError: rate must be a finite number > 0, got 0
    """
    given = value.item() if getattr(value, "ndim", None) == 0 else value
    real = isinstance(given, numbers.Real) and not isinstance(given, bool)
    try:
        result = float(given) if real else math.nan
    except OverflowError:  # a whole number beyond any float
        result = math.nan
    if infinite and result == math.inf:
        return result
    if not math.isfinite(result) or result < least or result <= above or result > most:
        limits = ((">", above), (">=", least), ("<=", most))
        bounds = [f"{sign} {limit:g}" for sign, limit in limits if math.isfinite(limit)]
        must = " ".join(["a finite number", " and ".join(bounds)]).strip()
        raise OptionError(name, must + (", or inf" if infinite else ""), value)
    return result


def scalars(name: str, value: Any, **limits: Any) -> float | tuple[float, ...]:
    """Return a number, or a non-empty flat sequence of them as a tuple."""
    many = isinstance(value, list | tuple | range) or getattr(value, "ndim", 0) > 0
    if not many:
        return number(name, value, **limits)
    if len(value) == 0 or getattr(value, "ndim", 1) > 1:
        raise OptionError(name, "a number, or a flat list of numbers", value)
    return tuple(number(f"{name}[{i}]", each, **limits) for i, each in enumerate(value))


def integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """Return a whole number with ``least <= value <= most``.

    >>> integer("bits", 2.0, least=1)
    Traceback (most recent call last):
        ...
    otafl._base.validation.OptionError: bits must be a whole number >= 1, got 2.0
    """
    given = value.item() if getattr(value, "ndim", None) == 0 else value
    whole = isinstance(given, int | numbers.Integral) and not isinstance(given, bool)
    if not whole or given < least or (most is not None and given > most):
        bounds = f">= {least}" if most is None else f"from {least} to {most}"
        raise OptionError(name, f"a whole number {bounds}", value)
    return int(given)


def boolean(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(name, "True or False", value)
    return bool(value)


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return one of the ``allowed`` strings.

    >>> choice("budget", "Symbol", ("symbol", "round"))
    Traceback (most recent call last):
        ...
    otafl._base.validation.OptionError: budget must be one of 'symbol', 'round', got 'Symbol'; did you mean 'symbol'?
    """  # noqa: E501
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(repr(each) for each in allowed)
        raise OptionError(name, f"one of {names}", value, did_you_mean(value, allowed))
    return value


def typed(name: str, value: Any, kind: Any, must: str) -> None:
    """Check that ``value`` is an instance of ``kind``, and not a class."""
    if isinstance(value, type) or not isinstance(value, kind):
        raise OptionError(name, must, value)


def real_array(name: str, value: Any) -> NDArray:
    """Return an array of real numbers: float32 if it was, float64 otherwise."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged
        raise ValueError(f"{name} must be an array of numbers: {error}") from None
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got an array of {array.dtype}")
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def assign(instance: Any, **values: Any) -> None:
    """Set validated values on a frozen dataclass, in its ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
