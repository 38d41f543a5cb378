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

from fl.metrics import BOUND, METRICS, POPULATION_WEIGHT, WEIGHT, Metric
from otafl._base.names import check_names
from scenarios.config.keys import flat
from scenarios.config.labels import label_of
from scenarios.config.library import STUDY_FILE
from scenarios.config.sweep import VARIANT, Axis, Plain, Sweep
from scenarios.study.cellfile import CellFile, Variables
from scenarios.study.folder import Folder
from scenarios.study.points import Point

INNER = {
    "round": "round",
    "client": "client",
    "symbol": "OFDM symbol",
    "population": "device",
}
"""Labels of the dimensions within a run."""

NOT_APPLICABLE = "-"
"""The label of a key that does not apply."""

OUTCOMES = {
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            (),
            "test accuracy",
            "The final or the best accuracy, as training.accuracy says; NaN if the run diverged.",
            shown_in="%",
        ),
        Metric(
            "final_accuracy",
            (),
            "final test accuracy",
            "Mean of the tests in the last training.final_rounds rounds; NaN if the run diverged.",
            shown_in="%",
        ),
        Metric(
            "best_accuracy",
            (),
            "best test accuracy",
            "Largest accuracy of all tests, selected on test data; NaN if the run diverged.",
            shown_in="%",
        ),
        Metric(
            "participation_bias",
            (),
            "participation bias",
            "Total variation distance between the client weights and the shares that the devices "
            "had in all rounds; about 0 if all take part.",
            shown_in="%",
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

        - ``final_accuracy``: the mean of the tests in the last ``training.final_rounds`` rounds,
          ``best_accuracy``: the best test of all, and ``accuracy``: the one of the two that
          ``training.accuracy`` names; NaN if the run diverged;
        - ``participation_bias``: how much the selection of clients favoured some devices, from 0 to
          1;
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
    """The cells of a study, read without the code that it was run with.

    Attributes
    ----------
    title : str
        Title of the scenario.
    sweep : Sweep
        The axes of the study, with labels only.
    cells : list of CellFile or None
        In the order of the sweep; None where one is missing.
    paper : mapping or None
        Published accuracies.
    scenario : str
        The scenario as TOML.
    counts : tuple of (int, int)
        Number of different cells that are finished, and of all.
    """

    title: str
    sweep: Sweep
    cells: list[CellFile | None]
    paper: Mapping[str, Any] | None
    scenario: str
    counts: tuple[int, int]

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Read a study."""
        study = Folder(Path(folder))
        index = study.index()
        digests = [index.digests.get(place) for place in index.sweep.places]
        cells = [None if digest is None else study.read_cell(digest) for digest in digests]
        scenario = (study.path / STUDY_FILE).read_text(encoding="utf-8")
        done = {digest for digest, cell in zip(digests, cells, strict=True) if cell is not None}
        counts = len(done), index.size
        return cls(index.title, index.sweep, cells, index.paper, scenario, counts)

    def dataset(self) -> xr.Dataset:
        """Return the dataset; see :func:`open_study`."""
        shape, names = self.sweep.shape, self.axis_names()
        found = {number: cell for number, cell in enumerate(self.cells) if cell is not None}
        sizes = dict.fromkeys(INNER, 0)
        for cell in found.values():
            for dims, values in cell.variables.values():
                for dim, size in zip(dims, values.shape, strict=True):
                    sizes[dim] = max(size, sizes[dim])
            sizes["population"] = max(sizes["population"], len(cell.variables[WEIGHT.name][1]))
        arrays: Variables = {}
        weights = {cell.variables[WEIGHT.name][0] for cell in found.values()}
        for number, cell in found.items():
            place: tuple = np.unravel_index(number, shape) if shape else ()
            for name, (own, values) in cell.variables.items():
                mixed = name == WEIGHT.name and len(weights) > 1
                dims = POPULATION_WEIGHT.dims if mixed else own
                if name not in arrays:
                    whole = (*shape, *(sizes[dim] for dim in dims))
                    arrays[name] = ((*names.values(), *dims), np.full(whole, np.nan))
                arrays[name][1][(*place, *map(slice, values.shape))] = values
        ends = ("accuracy", "final_accuracy", "best_accuracy", "participation_bias")
        outcomes: dict[str, list[float]] = {
            name: [math.nan if cell is None else getattr(cell, name)() for cell in self.cells]
            for name in ends
        } | {
            "diverged": [cell is not None and bool(cell.diverged) for cell in self.cells],
            "finished": [cell is not None for cell in self.cells],
        }
        for name, each in outcomes.items():
            arrays[name] = (tuple(names.values()), np.array(each, float).reshape(shape))
        axes = self.sweep.axes
        coordinates: dict[str, Any] = {names[axis.key]: _coordinate(axis) for axis in axes}
        coordinates["round"] = np.arange(1, sizes["round"] + 1)
        dataset = xr.Dataset(arrays, coordinates, {"title": self.title})
        dataset.attrs["scenario"] = self.scenario
        dataset.attrs["made_with"] = sorted({json.dumps(cell.made_with) for cell in found.values()})
        self._describe(dataset)
        return dataset

    def _describe(self, dataset: xr.Dataset) -> None:
        """Add units, long names and descriptions as attributes."""
        names = self.axis_names()
        for axis in self.sweep.axes:
            label = label_of(axis.name)
            coordinate = dataset[names[axis.key]]
            coordinate.attrs |= {"key": axis.key, "long_name": label.text}
            if coordinate.dtype.kind in "iuf":  # names have no unit
                coordinate.attrs["units"] = label.unit or "1"
        dataset["round"].attrs |= {"long_name": INNER["round"], "units": "1"}
        for name in dataset.data_vars:
            metric = VARIABLES.get(str(name))
            if metric is not None:  # a later version may have more
                dataset[name].attrs |= metric.attributes

    def points(self) -> list[Point]:
        """Return the points of the sweep in its order, each over all seeds.

        Where a key does not apply, such as an option of another algorithm, its label is "-", and
        the points that differ only in it are one.
        """
        groups: dict[tuple, dict[Plain, int]] = {}
        for number, cell in enumerate(self.cells):
            labels = self.sweep.labels_of(number)
            seed = labels.pop("seed", 0)
            place = {
                k: v if cell is None or applies(k, cell) else NOT_APPLICABLE
                for k, v in labels.items()
            }
            groups.setdefault(tuple(place.items()), {}).setdefault(seed, number)
        return [
            self._point(dict(place), list(numbers.values())) for place, numbers in groups.items()
        ]

    def _point(self, labels: dict[str, Plain], numbers: list[int]) -> Point:
        done = [cell for cell in map(self.cells.__getitem__, numbers) if cell is not None]
        ended = [cell for cell in done if not cell.diverged]
        accuracies = [100 * cell.accuracy() for cell in done]
        finals = [100 * cell.final_accuracy() for cell in done]
        return Point(
            labels,
            accuracies=tuple(a for a in accuracies if not math.isnan(a)),
            finals=tuple(a for a in finals if not math.isnan(a)),
            biases=tuple(cell.participation_bias() for cell in done),
            losses=tuple(loss for cell in ended for loss in cell.last("test_loss")),
            finished=len(done),
            diverged=len(done) - len(ended),
            paper=self._paper(numbers[0]),
            nmses=tuple(cell.variables["nmse"][1] for cell in done if "nmse" in cell.variables),
        )

    def published(self) -> list[float | None]:
        """Return the accuracy that the publication reports for each cell, in percent."""
        return [self._paper(number) for number in range(len(self.cells))]

    def _paper(self, number: int) -> float | None:
        """Return what the publication reports for a cell, by its settings or its labels."""
        if self.paper is None:
            return None
        labels, cell = self.sweep.labels_of(number), self.cells[number]
        known = {**({} if cell is None else flat(cell.settings)), **labels}
        mine: list[Any] = [known.get(key) for key in self.paper["keys"]]
        rows = self.paper["accuracy"]
        return next((float(row[-1]) for row in rows if row[:-1] == mine), None)

    def axis_names(self) -> dict[str, str]:
        """Return the dimension of each swept key: its short name, unless that is taken."""
        taken = {*INNER, *VARIABLES}
        short = [axis.name for axis in self.sweep.axes]
        return {
            axis.key: axis.key if axis.name in taken or short.count(axis.name) > 1 else axis.name
            for axis in self.sweep.axes
        }


def applies(key: str, cell: CellFile) -> bool:
    """Return whether a swept key is one of the cell's own."""
    table: Any = cell.settings
    for name in key.split("."):
        if not isinstance(table, Mapping) or name not in table:
            return key == VARIANT
        table = table[name]
    return True


def _coordinate(axis: Axis) -> list[Plain]:
    """Return the labels as numbers if all are, else as strings."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in axis.labels)
    return list(axis.labels) if numbers else [str(label) for label in axis.labels]
