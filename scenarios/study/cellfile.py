"""One finished cell in a self-describing NetCDF file.

The file carries a digest of its content: a truncated or edited file is detected and recomputed.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
from numpy.typing import NDArray

from fl.history import History, participation_bias
from fl.metrics import METRICS, WEIGHT
from otafl._base.files import replacing
from scenarios.errors import StudyError

FORMAT = 3
"""Version of the cell format. 1, of otafl 0.1, has no number in the file; 3 has ``code``."""

Variables = dict[str, tuple[tuple[str, ...], NDArray]]
"""Dimensions and values by name."""


class DamagedCellError(Exception):
    """A file whose content is not what was written."""


@dataclass(frozen=True)
class CellFile:
    """What is stored of a run.

    Attributes
    ----------
    settings : mapping
        Everything that the run depends on.
    variables : dict
        Its metrics: dimensions and values by name.
    diverged : str
        Why the run stopped early; empty if it did not.
    made_with : mapping of str to str
        Versions of the packages.
    code : mapping of str to str
        SHA-256 of the user's files that took part, by name.
    name : str
        Digest of the settings, by which the file is named; empty in earlier formats.
    format : int
        Version of the cell format.
    """

    settings: Mapping[str, Any]
    variables: Variables
    diverged: str
    made_with: Mapping[str, str]
    code: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    format: int = FORMAT

    def last(self, name: str) -> list[float]:
        """Return the last value of a metric that is not NaN, or an empty list."""
        _, values = self.variables.get(name, ((), np.zeros(0)))
        return [float(value) for value in values if not np.isnan(value)][-1:]

    def accuracy(self) -> float:
        """Return the final or the best accuracy of the run, as ``training.accuracy`` says."""
        best = self.settings["training"].get("accuracy", "final") == "best"
        return self.best_accuracy() if best else self.final_accuracy()

    def final_accuracy(self) -> float:
        """Return the mean of the tests in the last ``training.final_rounds`` rounds.

        It is between 0 and 1; NaN if there was no test or if the run diverged.
        """
        tests = self._tests(last=self.settings["training"]["final_rounds"])
        return float(tests.mean()) if len(tests) else math.nan

    def best_accuracy(self) -> float:
        """Return the best test of all rounds, between 0 and 1; NaN likewise."""
        tests = self._tests()
        return float(tests.max()) if len(tests) else math.nan

    def participation_bias(self) -> float:
        """Return :meth:`fl.History.participation_bias`; NaN if the file is older than that."""
        names = ("device", "client_weight", WEIGHT.name)
        if not all(name in self.variables for name in names):
            return math.nan
        return participation_bias(*(self.variables[name][1] for name in names))

    def _tests(self, last: int | None = None) -> NDArray:
        """Return the accuracies in the ``last`` rounds that were tested, of all by default."""
        if self.diverged:
            return np.empty(0)
        _, tests = self.variables.get("test_accuracy", ((), np.zeros(0)))
        chosen = tests if last is None else tests[-last:]
        return chosen[~np.isnan(chosen)]

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        memory = io.BytesIO()
        with h5netcdf.File(memory, "w") as file:
            for name, (dims, values) in self.variables.items():
                for dim, size in zip(dims, values.shape, strict=True):
                    if dim not in file.dimensions:
                        file.dimensions[dim] = size
                packed = {"compression": "gzip", "compression_opts": 1} if values.size > 100 else {}
                file.create_variable(name, dims, data=values, **packed)
            file.attrs.update(self._texts())
            file.attrs["digest"] = self._digest()
        return memory.getvalue()

    def write(self, path: Path) -> None:
        """Write the file completely or not at all."""
        with replacing(path) as whole:
            whole.write(self.to_bytes())

    @classmethod
    def read(cls, path: Path) -> CellFile:
        """Read a file; see :meth:`from_bytes`."""
        return cls.from_bytes(path.read_bytes(), str(path))

    @classmethod
    def from_bytes(cls, content: bytes, path: str) -> CellFile:
        """Read the content of a file.

        Parameters
        ----------
        content : bytes
        path : str
            Where it comes from, for messages.

        Raises
        ------
        DamagedCellError
            If it is truncated, edited or not a cell file.
        StudyError
            If a later version of otafl wrote it.
        """
        try:
            with h5py.File(io.BytesIO(content), "r") as file:  # a quarter of h5netcdf's time
                version = int(file.attrs.get("format", 1))
                if version > FORMAT:
                    raise StudyError(
                        f"{path} was written by a later version of otafl (cell format {version}; "
                        f"this version reads up to {FORMAT}): upgrade otafl"
                    )
                settings, made_with, dimensions = (
                    json.loads(file.attrs[name]) for name in ("settings", "made_with", "dimensions")
                )
                code, name = json.loads(file.attrs.get("code", "{}")), file.attrs.get("cell", "")
                diverged, digest = file.attrs["diverged"], file.attrs["digest"]
                variables = {
                    name: (tuple(dims), np.asarray(file[name][...]))
                    for name, dims in dimensions.items()
                }
            cell = cls(settings, variables, diverged, made_with, code, name, version)
        except StudyError:
            raise
        except Exception as error:  # whatever a library makes of a foreign file
            raise DamagedCellError(f"{path} cannot be read: {error}") from error
        if cell._digest() != digest:
            raise DamagedCellError(f"{path} has been changed since it was written")
        return cell

    def _texts(self) -> dict[str, str]:
        texts = {
            "settings": json.dumps(self.settings),
            "diverged": self.diverged,
            "made_with": json.dumps(self.made_with),
            "dimensions": json.dumps({name: dims for name, (dims, _) in self.variables.items()}),
        }
        if self.format > 1:
            texts["format"] = str(self.format)
        if self.format > 2:
            texts |= {"code": json.dumps(self.code), "cell": self.name}
        return texts

    def _digest(self) -> str:
        total = hashlib.sha256(json.dumps(self._texts()).encode())
        for name, (dims, values) in sorted(self.variables.items()):
            total.update(f"{name}{dims}{values.dtype.str}{values.shape}".encode())
            total.update(np.ascontiguousarray(values).tobytes())
        return total.hexdigest()


def variables_of(history: History) -> Variables:
    """Return the metrics of a run with their dimensions; booleans as 1 or 0."""
    weight = history.weight_metric
    variables: Variables = {weight.name: (weight.dims, history.weights)}
    for name, values in history.metrics.items():
        kept = values.astype(np.int8) if values.dtype == bool else values
        variables[name] = (METRICS[name].dims, kept)
    return variables
