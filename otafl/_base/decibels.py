"""Decibels of power and of amplitude, for numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def from_db(level: Any) -> Any:
    """Return the power ratio of ``level`` dB.

    >>> from_db(20.0)
    100.0
    """
    return 10.0 ** (level / 10)


def amplitude_from_db(level: Any) -> Any:
    """Return the amplitude ratio of ``level`` dB.

    >>> amplitude_from_db(20.0)
    10.0
    """
    return 10.0 ** (level / 20)


def to_db(ratio: Any) -> Any:
    """Return a power ratio in dB; -inf for zero.

    >>> float(to_db(100.0))
    20.0
    """
    with np.errstate(divide="ignore"):
        return 10 * np.log10(ratio)
