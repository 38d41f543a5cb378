"""What a study found: an xarray Dataset, and one row for each point of the sweep."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from fl.history import METRICS
from scenarios.cellfile import CellFile, Variables
from scenarios.folder import Folder
from scenarios.parts import flat
from scenarios.scenario import Scenario
from scenarios.sweep import Axis, Plain

UNITS = {"airtime": "s", "received_snr_db": "dB"}
INNER = ("round", "client", "symbol")


def open_study(folder: str | Path) -> xr.Dataset:
    """All metrics of a study, finished or not.

    The dimensions are the swept keys, by the last part of their name (``algorithm.name`` and
    ``link.kind`` are ``algorithm`` and ``link``), and ``round``, ``client`` and ``symbol``. What is
    not there, for a cell that is not finished or a run that was shorter, is NaN. Beside the metrics
    of :class:`fl.History` there are

    ``accuracy`` : the mean of the tests in the last ``training.final_rounds`` rounds; NaN if the
        run diverged
    ``diverged``, ``finished`` : 1 or 0
    """
    return Results.read(folder).dataset()


@dataclass(frozen=True)
class Results:
    """A study that was read: its cells in the order of the sweep, None where one is missing."""

    scenario: Scenario
    cells: list[CellFile | None]

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        study = Folder(Path(folder))
        scenario = study.scenario()
        found = [study.read_cell(number) for number in range(len(scenario.cells))]
        pairs = zip(found, scenario.cells, strict=True)
        return cls(scenario, [file if file and file.is_of(cell) else None for file, cell in pairs])

    def dataset(self) -> xr.Dataset:
        """See :func:`open_study`."""
        scenario, cells = self.scenario, self.cells
        sizes = {dim: _largest(cells, dim) for dim in INNER}
        arrays: Variables = {}
        names = self.axis_names()
        for number, cell in enumerate(cells):
            place: tuple = np.unravel_index(number, scenario.shape) if scenario.shape else ()
            for name, (dims, values) in self._with_outcome(number, cell).items():
                if name not in arrays:
                    shape = (*scenario.shape, *(sizes[dim] for dim in dims))
                    arrays[name] = ((*names.values(), *dims), np.full(shape, np.nan))
                arrays[name][1][(*place, *map(slice, values.shape))] = values
        coordinates: dict[str, Any] = {names[axis.key]: _coordinate(axis) for axis in scenario.axes}
        coordinates["round"] = np.arange(1, sizes["round"] + 1)
        dataset = xr.Dataset(arrays, coordinates, {"title": scenario.title})
        dataset.attrs["scenario"] = scenario.to_toml()
        versions = {json.dumps(cell.made_with) for cell in cells if cell is not None}
        dataset.attrs["made_with"] = sorted(versions)
        for axis in scenario.axes:
            dataset[names[axis.key]].attrs["key"] = axis.key
        for name, unit in UNITS.items():
            if name in dataset:
                dataset[name].attrs["units"] = unit
        return dataset

    def points(self) -> list[Point]:
        """In the order of the sweep."""
        groups: dict[tuple, list[int]] = {}
        for number in range(len(self.cells)):
            labels = {k: v for k, v in self.scenario.labels_of(number).items() if k != "seed"}
            groups.setdefault(tuple(labels.items()), []).append(number)
        return [self._point(dict(place), numbers) for place, numbers in groups.items()]

    def _point(self, labels: dict[str, Plain], numbers: list[int]) -> Point:
        done = [number for number in numbers if self.cells[number] is not None]
        outcomes = [self._with_outcome(number, self.cells[number]) for number in done]
        ended = [each for each in outcomes if not each["diverged"][1]]
        accuracies = [100 * float(each["accuracy"][1]) for each in ended]
        return Point(
            labels,
            accuracies=tuple(a for a in accuracies if not math.isnan(a)),
            losses=tuple(loss for each in ended for loss in _last(each["test_loss"][1])),
            finished=len(outcomes),
            diverged=len(outcomes) - len(ended),
            paper=self._paper(numbers[0]),
        )

    def _paper(self, number: int) -> float | None:
        paper = self.scenario.paper
        if paper is None:
            return None
        settings = flat(self.scenario.cells[number].settings())
        mine: list[Any] = [settings.get(key) for key in paper.keys]
        for *place, accuracy in paper.accuracy:
            if place == mine:
                return float(accuracy)
        return None

    def axis_names(self) -> dict[str, str]:
        """The dimension of each key: its short name, unless that is taken."""
        taken = {*INNER, *METRICS, "weight", "accuracy", "diverged", "finished"}
        short = [axis.name for axis in self.scenario.axes]
        return {
            axis.key: axis.key if axis.name in taken or short.count(axis.name) > 1 else axis.name
            for axis in self.scenario.axes
        }

    def _with_outcome(self, number: int, cell: CellFile | None) -> Variables:
        """The metrics of a cell, and what they amount to."""
        accuracy = math.nan
        if cell is not None and not cell.diverged:
            last = self.scenario.cells[number].training.final_rounds
            tests = cell.variables["test_accuracy"][1][-last:]
            tests = tests[~np.isnan(tests)]
            accuracy = float(tests.mean()) if len(tests) else math.nan
        outcome = {
            "accuracy": accuracy,
            "diverged": float(cell is not None and bool(cell.diverged)),
            "finished": float(cell is not None),
        }
        return {
            **(cell.variables if cell is not None else {}),
            **{name: ((), np.array(value)) for name, value in outcome.items()},
        }


def _last(tests: NDArray) -> list[float]:
    """The last one, if there was any."""
    return [float(test) for test in tests if not math.isnan(test)][-1:]


def _largest(cells: list[CellFile | None], dim: str) -> int:
    lengths = [
        values.shape[dims.index(dim)]
        for cell in cells
        if cell is not None
        for dims, values in cell.variables.values()
        if dim in dims
    ]
    return max(lengths, default=0)


def _coordinate(axis: Axis) -> list[Plain]:
    """Numbers, or else texts."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in axis.labels)
    return list(axis.labels) if numbers else [str(label) for label in axis.labels]


@dataclass(frozen=True)
class Point:
    """One point of the sweep, over all seeds.

    labels : where it is, by key
    accuracies : in percent, of each run that is finished and did not diverge
    losses : likewise, of the last test
    finished, diverged : how many runs are and did
    paper : what the publication reports, in percent
    """

    labels: dict[str, Plain]
    accuracies: tuple[float, ...]
    losses: tuple[float, ...]
    finished: int
    diverged: int
    paper: float | None

    @property
    def mean(self) -> float:
        return float(np.mean(self.accuracies)) if self.accuracies else math.nan

    @property
    def std(self) -> float:
        """Of the runs, not of their mean; NaN for a single one."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else math.nan


def comparison(points: list[Point]) -> tuple[float, Point, int, int] | None:
    """With a paper: mean absolute deviation, the farthest point, orderings that agree, and all.

    An ordering is which of two algorithms is better, all else being equal.
    """
    both = [point for point in points if point.paper is not None and point.accuracies]
    if not both:
        return None
    deviations = [abs(point.mean - _number(point.paper)) for point in both]
    agree = total = 0
    for place, one in enumerate(both):
        for other in both[place + 1 :]:
            different = [key for key in one.labels if one.labels[key] != other.labels[key]]
            if different == ["algorithm.name"]:
                total += 1
                agree += (one.mean > other.mean) == (_number(one.paper) > _number(other.paper))
    farthest = both[int(np.argmax(deviations))]
    return float(np.mean(deviations)), farthest, agree, total


def _number(value: float | None) -> float:
    return math.nan if value is None else value
