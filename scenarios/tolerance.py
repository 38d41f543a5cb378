"""How much of a fault a study's algorithms take before they lose a point of accuracy.

The first value in the sweep of the fault is the one without it, and each further one is worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from scenarios.results import Point, Results
from scenarios.scenario import Scenario
from scenarios.sweep import Axis, Plain

FAULTS = ("link.transmit", "link.receive", "link.fading.speed")
POINT = 1.0  # of accuracy, in percent
LARGER = 2.0  # where the NMSE is that many times as large, the fault is the larger error


def fault_axis(scenario: Scenario) -> Axis | None:
    """The axis of the sweep that is a fault, if there is just one."""
    found = [axis for axis in scenario.axes if f"{axis.key}.".startswith(FAULTS)]
    return found[0] if len(found) == 1 and len(found[0].labels) > 1 else None


@dataclass(frozen=True)
class Tolerance:
    """Of one algorithm at one SNR, or wherever else the sweep goes.

    place : by key
    accuracy : without the fault, in percent
    takes : the largest value that costs no more than a point, nor does any before it; a run that
        diverges costs more
    too_much : the value after that, or None if all are taken
    dominates : the value from which on the fault is a larger error than all others, or None
    """

    place: Mapping[str, Plain]
    accuracy: float
    takes: Plain
    too_much: Plain | None
    dominates: Plain | None


def tolerances(results: Results) -> list[Tolerance]:
    """One for each place in the sweep that is done; none if the study has no fault."""
    axis = fault_axis(results.scenario)
    if axis is None:
        return []
    by_place: dict[tuple[Any, ...], list[Point]] = {}
    for point in results.points():
        place = tuple((key, label) for key, label in point.labels.items() if key != axis.key)
        by_place.setdefault(place, []).append(point)
    errors = _errors(results, axis)
    found = []
    for place, points in by_place.items():
        if math.isnan(points[0].mean) or not all(point.finished for point in points):
            continue
        lost = [math.inf if p.diverged else points[0].mean - p.mean for p in points[1:]]
        taken = 1 + len(list(takewhile(lambda points_lost: points_lost <= POINT, lost)))
        here = [errors[(*place, (axis.key, label))] for label in axis.labels]
        larger = [label for label, e in zip(axis.labels, here, strict=True) if e > LARGER * here[0]]
        found.append(
            Tolerance(
                dict(place),
                points[0].mean,
                axis.labels[taken - 1],
                axis.labels[taken] if taken < len(points) else None,
                larger[0] if larger else None,
            )
        )
    return found


def _errors(results: Results, axis: Axis) -> dict[tuple[Any, ...], float]:
    """The median NMSE of each point of the sweep, over rounds and seeds."""
    gathered: dict[tuple[Any, ...], list[float]] = {}
    for number, cell in enumerate(results.cells):
        if cell is None:
            continue
        labels = results.scenario.labels_of(number)
        place = [(k, v) for k, v in labels.items() if k not in ("seed", axis.key)]
        key = (*place, (axis.key, labels[axis.key]))
        gathered.setdefault(key, []).extend(cell.variables["nmse"][1].tolist())
    return {place: float(np.nanmedian(values)) for place, values in gathered.items()}
