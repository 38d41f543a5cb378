"""Functions for algorithms that wrap another one.

The wrapped algorithm sees the round with its own state; beside it the outer one keeps its own, in
``Outcome.state``, under names that do not begin with :data:`INNER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import ArrayLike

from fl.algorithm import Algorithm, Round
from otafl._base.validation import typed

INNER = "aggregation/"
"""Prefix of the names in a wrapped algorithm's state."""


def check_aggregation(aggregation: Algorithm) -> None:
    """Check that an option is an algorithm."""
    typed("aggregation", aggregation, Algorithm, "an algorithm, such as Cotaf()")


def inner_round(current: Round) -> Round:
    """Return the round as the wrapped algorithm sees it."""
    state = {
        name.removeprefix(INNER): value
        for name, value in current.state.items()
        if name.startswith(INNER)
    }
    return replace(current, state=state)


def inner_state(state: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the state of the wrapped algorithm as the outer one keeps it."""
    return {INNER + name: value for name, value in state.items()}
