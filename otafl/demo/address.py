"""The settings in the address of the page, so that a link opens what its sender sees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any
from urllib.parse import urlencode

from otafl._base.names import did_you_mean
from otafl.demo.setting import CHOICES, RANGES, Setting

LONGEST = 40  # characters of a value that a message repeats
NAMES = tuple(field.name for field in fields(Setting))


def query_of(setting: Setting) -> str:
    """Return all settings as the query string of an address.

    >>> query_of(Setting(clients=3))[:35]
    'clients=3&payload=votes&entry_snr_d'
    """
    values = asdict(setting)
    return urlencode({name: _plain(value) for name, value in values.items()})


def setting_of(arguments: Mapping[str, Sequence[bytes]]) -> tuple[Setting, list[str]]:
    """Read settings from the arguments of a request.

    Parameters
    ----------
    arguments : mapping of str to sequence of bytes
        Values by name; the last one of a name counts.

    Returns
    -------
    setting : Setting
        With the nearest allowed value of every number, and the default of what cannot be read.
    messages : list of str
        What was wrong.
    """
    values: dict[str, Any] = {}
    messages = []
    for name, given in arguments.items():
        if name not in NAMES:
            messages.append(f"{_short(name)} is not a setting{did_you_mean(name, NAMES)}")
            continue
        text = given[-1].decode("utf-8", "replace") if given else ""
        value, must = _named(name, text) if name in CHOICES else _numeric(name, text)
        if must:
            messages.append(
                f"{name} must be {must}, got {_short(text)!r}; this page has {_plain(value)}"
            )
        values[name] = value
    return Setting(**values), messages


def _named(name: str, text: str) -> tuple[str, str]:
    """Return a choice, and what it must be if it is none."""
    if text in CHOICES[name]:
        return text, ""
    return getattr(Setting(), name), "one of " + ", ".join(map(repr, CHOICES[name]))


def _numeric(name: str, text: str) -> tuple[float, str]:
    """Return the nearest allowed number, and what it must be if it is another one."""
    start, end, step = RANGES[name]
    must = f"a number from {_plain(start)} to {_plain(end)} in steps of {_plain(step)}"
    default = getattr(Setting(), name)
    try:
        given = float(text)
    except ValueError:
        return default, must
    if math.isnan(given):
        return default, must
    steps = round((min(max(given, start), end) - start) / step)
    nearest = type(default)(round(start + steps * step, 9))
    return nearest, "" if math.isclose(nearest, given, abs_tol=1e-9) else must


def _plain(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
