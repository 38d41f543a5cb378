"""Options of a dataclass that were added after its first version, or whose default changed.

An option that changes results declares the value that reproduces the behaviour of versions before
the change. What an earlier version stored is read with that value. An option that was added does
not count at that value among the settings that tell one result from another, because earlier
versions did not have it.
"""

from __future__ import annotations

from dataclasses import Field, field
from typing import Any

SINCE, EARLIER, ALWAYS = "since", "earlier", "always"
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
    return field(default=default, metadata={SINCE: since, EARLIER: earlier, ALWAYS: False})


def changed(since: str, *, default: Any, earlier: Any) -> Any:
    """Return a dataclass field for an old option whose default has changed.

    Parameters
    ----------
    since : str
        The version that changed the default, such as "0.3".
    default : object
        Its default.
    earlier : object
        Its default in earlier versions.
    """
    return field(default=default, metadata={SINCE: since, EARLIER: earlier, ALWAYS: True})


def metadata_of(option: Field) -> dict[str, Any] | None:
    """Return what :func:`added` or :func:`changed` says of a field; None if neither does."""
    keys = (SINCE, EARLIER, ALWAYS)
    return {key: option.metadata[key] for key in keys} if SINCE in option.metadata else None


def older(version: str, than: str) -> bool:
    """Return whether a version is older than another.

    >>> older("0.2.0", than="0.10"), older("0.3.1", than="0.3")
    (True, False)
    """
    numbers = [[int(n) for n in each.split(".") if n.isdecimal()] for each in (version, than)]
    return numbers[0] < numbers[1]
