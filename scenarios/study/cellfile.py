"""One finished cell in a self-describing NetCDF file.

The file carries a digest of its content: a truncated or edited file is detected and recomputed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
from numpy.typing import NDArray

from fl.history import History
from fl.metrics import METRICS, WEIGHT
from otafl._base.files import replacing
from scenarios.config.cell import Cell
from scenarios.config.keys import flat
from scenarios.config.link import upgraded
from scenarios.errors import StudyError

FORMAT = 2
"""Version of the cell format. 1, of otafl 0.1, has no number in the file."""

Variables = dict[str, tuple[tuple[str, ...], NDArray]]
"""Dimensions and values by name."""

_ATTRIBUTES = ("settings", "diverged", "made_with", "dimensions", "digest")


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
    format : int
        Version of the cell format.
    """

    settings: Mapping[str, Any]
    variables: Variables
    diverged: str
    made_with: Mapping[str, str]
    format: int = FORMAT

    def matches(self, cell: Cell) -> bool:
        """Return whether this is the run that ``cell`` describes.

        Only options that both have are compared: another version may have fewer.
        """
        settings = {**self.settings, "link": upgraded(self.settings["link"])}
        mine, others = flat(settings), flat(json.loads(json.dumps(cell.settings())))
        return all(mine[key] == others[key] for key in mine.keys() & others.keys())

    def last_accuracy(self) -> list[float]:
        """Return the accuracy of the last test, or an empty list if there was none."""
        return self.last("test_accuracy")

    def last(self, name: str) -> list[float]:
        """Return the last value of a metric that is not NaN, or an empty list."""
        _, values = self.variables.get(name, ((), np.zeros(0)))
        return [float(value) for value in values if not np.isnan(value)][-1:]

    def write(self, path: Path) -> None:
        """Write the file completely or not at all."""
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
        with replacing(path) as whole:
            whole.write(memory.getbuffer())

    @classmethod
    def read(cls, path: Path) -> CellFile:
        """Read a file.

        Raises
        ------
        FileNotFoundError
        DamagedCellError
            If it is truncated, edited or not a cell file.
        StudyError
            If a later version of otafl wrote it.
        """
        try:
            content = path.read_bytes()
            with h5py.File(io.BytesIO(content), "r") as file:  # a quarter of h5netcdf's time
                version = int(file.attrs.get("format", 1))
                if version > FORMAT:
                    raise StudyError(
                        f"{path} was written by a later version of otafl (cell format {version}; "
                        f"this version reads up to {FORMAT}): upgrade otafl"
                    )
                texts = {name: file.attrs[name] for name in _ATTRIBUTES}
                settings, made_with, dimensions = (
                    json.loads(texts[name]) for name in ("settings", "made_with", "dimensions")
                )
                variables = {
                    name: (tuple(dims), np.asarray(file[name][...]))
                    for name, dims in dimensions.items()
                }
            cell = cls(settings, variables, texts["diverged"], made_with, version)
        except (FileNotFoundError, StudyError):
            raise
        except Exception as error:  # whatever a library makes of a foreign file
            raise DamagedCellError(f"{path} cannot be read: {error}") from error
        if cell._digest() != texts["digest"]:
            raise DamagedCellError(f"{path} has been changed since it was written")
        return cell

    def _texts(self) -> dict[str, str]:
        texts = {
            "settings": json.dumps(self.settings),
            "diverged": self.diverged,
            "made_with": json.dumps(self.made_with),
            "dimensions": json.dumps({name: dims for name, (dims, _) in self.variables.items()}),
        }
        return texts if self.format == 1 else {**texts, "format": str(self.format)}

    def _digest(self) -> str:
        total = hashlib.sha256(json.dumps(self._texts()).encode())
        for name, (dims, values) in sorted(self.variables.items()):
            total.update(f"{name}{dims}{values.dtype.str}{values.shape}".encode())
            total.update(np.ascontiguousarray(values).tobytes())
        return total.hexdigest()


def variables_of(history: History) -> Variables:
    """Return the metrics of a run with their dimensions; booleans as 1 or 0."""
    variables: Variables = {WEIGHT.name: (WEIGHT.dims, history.weights)}
    for name, values in history.metrics.items():
        kept = values.astype(np.int8) if values.dtype == bool else values
        variables[name] = (METRICS[name].dims, kept)
    return variables
