"""The results of a study: an xarray Dataset, and the points of its sweep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from fl.metrics import BOUND, METRICS, WEIGHT, Metric
from otafl._base.names import check_names
from scenarios.config.keys import flat
from scenarios.config.labels import label_of
from scenarios.config.scenario import Scenario
from scenarios.config.sweep import Axis, Plain
from scenarios.study.cellfile import CellFile, Variables
from scenarios.study.folder import Folder
from scenarios.study.points import Point

INNER = {"round": "round", "client": "client", "symbol": "OFDM symbol"}
"""Labels of the dimensions within a run."""

OUTCOMES = {
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            (),
            "test accuracy",
            "Mean of the tests in the last training.final_rounds rounds; NaN if the run diverged.",
        ),
        Metric("diverged", (), "diverged", "1 if the run diverged, else 0."),
        Metric("finished", (), "finished", "1 if the cell is finished, else 0."),
    )
}
"""What the metrics of a cell amount to."""

VARIABLES: Mapping[str, Metric] = {WEIGHT.name: WEIGHT, **METRICS, **BOUND, **OUTCOMES}
"""Every variable that the dataset of a study may have."""


@check_names
def open_study(folder: str | Path) -> xr.Dataset:
    """Open the results of a study, finished or not.

    The dimensions are the swept keys, by the last part of their name (``algorithm.name`` and
    ``link.kind`` are ``algorithm`` and ``link``), and ``round``, ``client`` and ``symbol``.

    Parameters
    ----------
    folder : str or path
        The directory of the study.

    Returns
    -------
    xarray.Dataset
        The metrics of :class:`fl.History`, the client weights, and

        - ``accuracy``: the mean of the tests in the last ``training.final_rounds`` rounds; NaN if
          the run diverged;
        - ``diverged``, ``finished``: 1 or 0.

        Values that are missing, because a cell is not finished or a run was shorter than others,
        are NaN. Variables and coordinates have the attributes ``long_name`` and ``units``, and
        variables a ``description``.

    Raises
    ------
    ScenarioError
        If the directory does not hold a study.
    """
    return Results.read(folder).dataset()


@dataclass(frozen=True)
class Results:
    """The cells of a study.

    Attributes
    ----------
    scenario : Scenario
    cells : list of CellFile or None
        In the order of the sweep; None where one is missing.
    """

    scenario: Scenario
    cells: list[CellFile | None]

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Read a study."""
        study = Folder(Path(folder))
        scenario = study.scenario()
        found = [study.read_cell(number) for number in range(len(scenario.cells))]
        pairs = zip(found, scenario.cells, strict=True)
        return cls(
            scenario, [file if file and file.matches(cell) else None for file, cell in pairs]
        )

    def dataset(self) -> xr.Dataset:
        """Return the dataset; see :func:`open_study`."""
        scenario, names = self.scenario, self.axis_names()
        found = {number: cell for number, cell in enumerate(self.cells) if cell is not None}
        sizes = dict.fromkeys(INNER, 0)
        for cell in found.values():
            for dims, values in cell.variables.values():
                for dim, size in zip(dims, values.shape, strict=True):
                    sizes[dim] = max(size, sizes[dim])
        arrays: Variables = {}
        for number, cell in found.items():
            place: tuple = np.unravel_index(number, scenario.shape) if scenario.shape else ()
            for name, (dims, values) in cell.variables.items():
                if name not in arrays:
                    shape = (*scenario.shape, *(sizes[dim] for dim in dims))
                    arrays[name] = ((*names.values(), *dims), np.full(shape, np.nan))
                arrays[name][1][(*place, *map(slice, values.shape))] = values
        outcomes = {
            "accuracy": [self._accuracy(number) for number in range(len(self.cells))],
            "diverged": [cell is not None and bool(cell.diverged) for cell in self.cells],
            "finished": [cell is not None for cell in self.cells],
        }
        for name, each in outcomes.items():
            arrays[name] = (tuple(names.values()), np.array(each, float).reshape(scenario.shape))
        coordinates: dict[str, Any] = {names[axis.key]: _coordinate(axis) for axis in scenario.axes}
        coordinates["round"] = np.arange(1, sizes["round"] + 1)
        dataset = xr.Dataset(arrays, coordinates, {"title": scenario.title})
        dataset.attrs["scenario"] = scenario.to_toml()
        dataset.attrs["made_with"] = sorted({json.dumps(cell.made_with) for cell in found.values()})
        self._describe(dataset)
        return dataset

    def _describe(self, dataset: xr.Dataset) -> None:
        """Add units, long names and descriptions as attributes."""
        names = self.axis_names()
        for axis in self.scenario.axes:
            label = label_of(axis.name)
            coordinate = dataset[names[axis.key]]
            coordinate.attrs |= {"key": axis.key, "long_name": label.text}
            if coordinate.dtype.kind in "iuf":  # names have no unit
                coordinate.attrs["units"] = label.unit or "1"
        dataset["round"].attrs |= {"long_name": INNER["round"], "units": "1"}
        for name in dataset.data_vars:
            metric = VARIABLES.get(str(name))
            if metric is not None:  # a later version may have more
                dataset[name].attrs |= {
                    "long_name": metric.label,
                    "units": metric.unit or "1",
                    "description": metric.meaning,
                }

    def points(self) -> list[Point]:
        """Return the points of the sweep in its order, each over all seeds."""
        groups: dict[tuple, list[int]] = {}
        for number in range(len(self.cells)):
            labels = {k: v for k, v in self.scenario.labels_of(number).items() if k != "seed"}
            groups.setdefault(tuple(labels.items()), []).append(number)
        return [self._point(dict(place), numbers) for place, numbers in groups.items()]

    def _point(self, labels: dict[str, Plain], numbers: list[int]) -> Point:
        done = [cell for cell in map(self.cells.__getitem__, numbers) if cell is not None]
        ended = [cell for cell in done if not cell.diverged]
        accuracies = [100 * self._accuracy(number) for number in numbers]
        return Point(
            labels,
            accuracies=tuple(a for a in accuracies if not math.isnan(a)),
            losses=tuple(loss for cell in ended for loss in cell.last("test_loss")),
            finished=len(done),
            diverged=len(done) - len(ended),
            paper=self._paper(numbers[0]),
            nmses=tuple(cell.variables["nmse"][1] for cell in done if "nmse" in cell.variables),
        )

    def _paper(self, number: int) -> float | None:
        paper = self.scenario.paper
        if paper is None:
            return None
        settings = flat(self.scenario.cells[number].settings())
        mine: list[Any] = [settings.get(key) for key in paper.keys]
        return next((float(row[-1]) for row in paper.accuracy if row[:-1] == mine), None)

    def axis_names(self) -> dict[str, str]:
        """Return the dimension of each swept key: its short name, unless that is taken."""
        taken = {*INNER, *VARIABLES}
        short = [axis.name for axis in self.scenario.axes]
        return {
            axis.key: axis.key if axis.name in taken or short.count(axis.name) > 1 else axis.name
            for axis in self.scenario.axes
        }

    def _accuracy(self, number: int) -> float:
        """Return the accuracy of a cell; NaN if it is missing or has diverged."""
        cell = self.cells[number]
        if cell is None or cell.diverged:
            return math.nan
        last = self.scenario.cells[number].training.final_rounds
        tests = cell.variables["test_accuracy"][1][-last:]
        tests = tests[~np.isnan(tests)]
        return float(tests.mean()) if len(tests) else math.nan


def _coordinate(axis: Axis) -> list[Plain]:
    """Return the labels as numbers if all are, else as strings."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in axis.labels)
    return list(axis.labels) if numbers else [str(label) for label in axis.labels]
