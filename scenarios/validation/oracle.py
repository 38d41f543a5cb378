"""An oracle: a closed form that the toolkit is validated against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.api import Link
from links import realise
from scenarios.validation.claims import Claim

Measure = Callable[[np.random.Generator], Iterable[Claim]]


@dataclass(frozen=True)
class Oracle:
    """A law, and the measurements that it predicts.

    Attributes
    ----------
    name : str
        What the law is about.
    law : str
        The formula, in LaTeX.
    measure : callable
        Takes a generator of random numbers and yields the claims.
    """

    name: str
    law: str
    measure: Measure


class Chapter(list[Oracle]):
    """The oracles of a chapter of the report, in order."""

    def law(self, name: str, formula: str) -> Callable[[Measure], Measure]:
        """Decorate the measurements that a law predicts: add the oracle to the chapter."""

        def add(measure: Measure) -> Measure:
            self.append(Oracle(name, formula, measure))
            return measure

        return add


def generators(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Return one generator per realisation."""
    return [np.random.default_rng(seed) for seed in rng.integers(2**32, size=count)]


def sums(link: Link, signals: NDArray, gain: float, rngs: Sequence[np.random.Generator]) -> NDArray:
    """Send ``signals [n, m, d]`` over n realisations of a link; return the sums, [n, d]."""
    return realise(
        link,
        signals.shape[1],
        signals.shape[2],
        rngs,
        lambda uplink, number: uplink.send(signals[number], gain, enforce=False).total,
    )
