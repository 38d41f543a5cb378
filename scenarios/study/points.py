"""The points of a sweep, over all seeds, and how they compare with published accuracies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenarios.config.sweep import VARIANT, Plain


@dataclass(frozen=True)
class Point:
    """One point of the sweep, over all seeds.

    Attributes
    ----------
    labels : dict
        Its position in the sweep, by key.
    accuracies : tuple of float
        In percent, of each run that finished and did not diverge.
    finals : tuple of float
        Mean accuracy of the last rounds of each run, in percent; the same unless the study reports
        the best accuracy.
    biases : tuple of float
        Participation bias of each finished run, from 0 to 1.
    losses : tuple of float
        Test losses at the end of these runs.
    finished, diverged : int
        Numbers of runs.
    paper : float or None
        The accuracy that the publication reports, in percent.
    nmses : tuple of [round], float
        NMSE of each finished run.
    """

    labels: dict[str, Plain]
    accuracies: tuple[float, ...]
    finals: tuple[float, ...]
    biases: tuple[float, ...]
    losses: tuple[float, ...]
    finished: int
    diverged: int
    paper: float | None
    nmses: tuple[NDArray, ...] = ()

    @property
    def mean(self) -> float:
        """Mean accuracy; NaN without runs."""
        return float(np.mean(self.accuracies)) if self.accuracies else math.nan

    @property
    def std(self) -> float:
        """Standard deviation of the runs, not of their mean; NaN for a single run."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else math.nan

    @property
    def final(self) -> float:
        """Mean accuracy of the last rounds; NaN without runs."""
        return float(np.mean(self.finals)) if self.finals else math.nan

    @property
    def bias(self) -> float:
        """Mean participation bias; NaN without runs."""
        return float(np.mean(self.biases)) if self.biases else math.nan

    @property
    def loss(self) -> float:
        """Mean loss; NaN without runs."""
        return sum(self.losses) / len(self.losses) if self.losses else math.nan

    @property
    def runs(self) -> int:
        """Number of runs in the means."""
        return len(self.accuracies or self.losses)

    @property
    def median_nmse(self) -> float:
        """Median NMSE over rounds and seeds."""
        return float(np.nanmedian(np.concatenate(self.nmses)))

    @property
    def deviation(self) -> float:
        """Mean accuracy minus that of the publication; NaN without either."""
        return math.nan if self.paper is None else self.mean - self.paper


@dataclass(frozen=True)
class Comparison:
    """Our accuracies beside those of a publication.

    Attributes
    ----------
    reading : str
        The variant that is compared, if several stand for the same published values; else empty.
    deviation, median : float
        Mean and median of the absolute deviation, in percentage points.
    farthest : Point
        The point with the largest deviation.
    agreeing, orderings : int
        Pairs of points that differ only in the algorithm or the variant: those in which the same
        one is ahead as in the publication, and all.
    """

    reading: str
    deviation: float
    median: float
    farthest: Point
    agreeing: int
    orderings: int


def published(points: list[Point]) -> list[Point]:
    """Return the points that have an accuracy, and one in the publication."""
    return [point for point in points if point.paper is not None and point.accuracies]


def compare(points: list[Point], readings: Sequence[str] = ()) -> list[Comparison]:
    """Compare points with their published accuracies, once for each reading.

    Parameters
    ----------
    points : list of Point
        The points of a sweep.
    readings : sequence of str
        Variants that are compared with the same published values, one at a time.
    """
    if not readings:
        return _compared(published(points), "")
    found = []
    for reading in readings:
        others = {each for each in readings if each != reading}
        chosen = [point for point in points if point.labels.get(VARIANT) not in others]
        found += _compared(published(chosen), reading)
    return found


def _compared(both: list[Point], reading: str) -> list[Comparison]:
    """Return the comparison, or nothing if nothing was published."""
    if not both:
        return []
    deviations = [abs(point.deviation) for point in both]
    agreeing = orderings = 0
    for index, one in enumerate(both):
        for other in both[index + 1 :]:
            different = [key for key in one.labels if one.labels[key] != other.labels[key]]
            if different in (["algorithm.name"], [VARIANT]):
                orderings += 1
                agreeing += (one.mean > other.mean) == ((one.paper or 0) > (other.paper or 0))
    farthest = both[int(np.argmax(deviations))]
    mean, median = float(np.mean(deviations)), float(np.median(deviations))
    return [Comparison(reading, mean, median, farthest, agreeing, orderings)]
