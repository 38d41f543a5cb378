"""Algorithms around another one, their ``aggregation``.

The aggregation sees the round with its own state. The wrapper keeps its own beside it, in
``Outcome.state``, under names that do not begin with :data:`INNER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import ArrayLike

from fl.algorithm import Algorithm, Plan, Round
from otafl._base.validation import typed

INNER = "aggregation/"
"""What the names of the aggregation's state begin with."""


class Wrapper(Algorithm):
    """The base class of algorithms that leave to their ``aggregation`` what goes over the air."""

    aggregation: Algorithm

    def num_entries(self, size: int) -> int:
        """Return the number of entries that the aggregation sends."""
        return self.aggregation.num_entries(size)

    def sensitivity(self, current: Round) -> float | None:
        """Return the sensitivity of the aggregation."""
        return self.aggregation.sensitivity(inner_round(current))

    def plan(self, current: Round) -> Plan:
        """Return the plan of the aggregation."""
        return self.aggregation.plan(inner_round(current))


def check_aggregation(aggregation: Algorithm) -> None:
    """Check that an option is an algorithm."""
    typed("aggregation", aggregation, Algorithm, "an algorithm, such as Cotaf()")


def inner_round(current: Round) -> Round:
    """Return the round as the aggregation sees it."""
    state = {
        name.removeprefix(INNER): value
        for name, value in current.state.items()
        if name.startswith(INNER)
    }
    return replace(current, state=state)


def inner_state(state: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the state of the aggregation as the wrapper keeps it."""
    return {INNER + name: value for name, value in state.items()}
