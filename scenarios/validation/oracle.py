"""A closed form that the toolkit is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from scenarios.validation.claims import Claim


@dataclass(frozen=True)
class Oracle:
    """A law, and the measurements that it must explain.

    name : what it is about
    law : the formula, in LaTeX
    measure : draws from a generator and gives the claims
    """

    name: str
    law: str
    measure: Callable[[np.random.Generator], Iterable[Claim]]


def generators(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """One for each trial."""
    return [np.random.default_rng(seed) for seed in rng.integers(2**32, size=count)]
