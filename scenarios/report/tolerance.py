"""How much of an impairment the algorithms of a study tolerate.

Tolerable is what costs at most one percentage point of accuracy. The first value in the sweep of
the impairment stands for none, and each further value is worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from scenarios.config.sweep import Axis, Plain, Sweep
from scenarios.study.points import Point
from scenarios.study.results import NOT_APPLICABLE, Results

IMPAIRMENTS = ("link.transmit", "link.receive", "link.fading.speed")
POINT = 1.0  # percentage points of accuracy
LARGER = 2.0  # a ratio of NMSEs above which the impairment causes most of the error


def impairment_axis(sweep: Sweep) -> Axis | None:
    """Return the axis of the sweep that varies an impairment, if there is exactly one."""
    found = [axis for axis in sweep.axes if f"{axis.key}.".startswith(IMPAIRMENTS)]
    return found[0] if len(found) == 1 and len(found[0].labels) > 1 else None


@dataclass(frozen=True)
class Tolerance:
    """Tolerance at one place of the rest of the sweep, such as an algorithm and an SNR.

    Attributes
    ----------
    place : mapping
        The other labels, by key.
    accuracy : float
        Without the impairment, in percent.
    tolerated : object
        The last value up to which no value costs more than a point; divergence costs more.
    too_much : object or None
        The next value, or None if all are tolerated.
    dominates : object or None
        The first value at which the impairment causes more error than everything else.
    """

    place: Mapping[str, Plain]
    accuracy: float
    tolerated: Plain
    too_much: Plain | None
    dominates: Plain | None


def tolerances(results: Results) -> list[Tolerance]:
    """Return one for each finished place of the sweep; none if no impairment is swept."""
    axis = impairment_axis(results.sweep)
    if axis is None:
        return []
    by_place: dict[tuple[Any, ...], list[Point]] = {}
    for point in results.points():
        place = tuple((key, label) for key, label in point.labels.items() if key != axis.key)
        by_place.setdefault(place, []).append(point)
    found = []
    for place, points in by_place.items():
        if math.isnan(points[0].mean) or not all(point.finished for point in points):
            continue
        if points[0].labels[axis.key] == NOT_APPLICABLE:
            continue  # this place has no such impairment
        lost = [math.inf if p.diverged else points[0].mean - p.mean for p in points[1:]]
        taken = 1 + len(list(takewhile(lambda points_lost: points_lost <= POINT, lost)))
        limit = LARGER * points[0].median_nmse
        larger = [point.labels[axis.key] for point in points if point.median_nmse > limit]
        too_much = axis.labels[taken] if taken < len(points) else None
        ends = axis.labels[taken - 1], too_much, larger[0] if larger else None
        found.append(Tolerance(dict(place), points[0].mean, *ends))
    return found
