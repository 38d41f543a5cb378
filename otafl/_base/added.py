"""Options that were added to a dataclass after its first version.

An option that changes results declares the value that reproduces the behaviour of versions without
it. At that value it does not count among the settings that tell one result from another, and what
an earlier version stored is read with it.
"""

from __future__ import annotations

from dataclasses import Field, field
from typing import Any

SINCE, EARLIER = "since", "earlier"
"""Keys in the metadata of a field."""


def added(since: str, *, default: Any, earlier: Any) -> Any:
    """Return a dataclass field for an option that was added later.

    Parameters
    ----------
    since : str
        The version that added it, such as "0.3".
    default : object
        Its default.
    earlier : object
        The value that reproduces earlier versions.
    """
    return field(default=default, metadata={SINCE: since, EARLIER: earlier})


def metadata_of(option: Field) -> dict[str, Any] | None:
    """Return what :func:`added` says of a field; None if it was always there."""
    keys = (SINCE, EARLIER)
    return {key: option.metadata[key] for key in keys} if SINCE in option.metadata else None


def older(version: str, than: str) -> bool:
    """Return whether a version is older than another.

    >>> older("0.2.0", than="0.10"), older("0.3.1", than="0.3")
    (True, False)
    """
    numbers = [[int(n) for n in each.split(".") if n.isdecimal()] for each in (version, than)]
    return numbers[0] < numbers[1]
