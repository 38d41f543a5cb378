"""Misspelt names: the nearest valid one, whatever its case."""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

SYNONYMS = {"lr": "rate", "learning_rate": "rate"}
"""Names that users bring from elsewhere, and ours."""


def nearest(name: Any, known: Iterable[str]) -> str | None:
    """Return the valid name closest to ``name``, or None if none is close.

    >>> nearest("SNR_dB", ["snr_db", "power"])
    'snr_db'
    """
    by_lower_case = {each.lower(): each for each in known}
    if SYNONYMS.get(str(name).lower()) in by_lower_case:
        return SYNONYMS[str(name).lower()]
    close = difflib.get_close_matches(str(name).lower(), by_lower_case, n=1)
    return by_lower_case[close[0]] if close else None


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return a hint to append to a message; empty if no valid name is close.

    >>> did_you_mean("cotaff", ["acpc", "cotaf"])
    "; did you mean 'cotaf'?"
    """
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def check_names(
    function: Callable[P, R], *, owner: str = "", aliases: Mapping[str, str] | None = None
) -> Callable[P, R]:
    """Make a function name the nearest parameter when it is given one it does not have.

    Parameters
    ----------
    function : callable
        A function that takes no ``**kwargs``.
    owner : str
        What the message calls it; the function's name by default.
    aliases : mapping of str to str, optional
        What to write instead of names that users bring from elsewhere.
    """
    parameters = inspect.signature(function).parameters
    known, accepted = list(parameters), frozenset(parameters)
    by_name = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    most = len(known) - len(by_name) if by_name else sys.maxsize

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= accepted:
            name = next(each for each in kwargs if each not in accepted)
            instead = (aliases or {}).get(name.lower())
            hint = f"; write {instead}" if instead else did_you_mean(name, known)
            options = ", ".join(each for each in known if each != "self")
            raise TypeError(
                f"{owner or function.__name__} has no option {name!r}"
                + (hint or f"; its options are {options or 'none'}")
            )
        if len(args) > most:
            called = owner or function.__name__
            raise TypeError(f"{called} takes options by name, such as {by_name[0]}=...")
        return function(*args, **kwargs)

    return checked


def options(cls: C) -> C:
    """Class decorator: a dataclass that names the nearest option when one is misspelt."""
    cls.__init__ = check_names(cls.__init__, owner=cls.__name__)  # type: ignore[misc]
    return cls
