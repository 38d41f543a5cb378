"""One finished cell in a NetCDF file that knows what it holds.

The file carries a digest of its content: one that was cut short or changed by hand is found out.
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

from fl.files import replacing
from fl.history import History
from scenarios.parts import flat
from scenarios.tables import Cell

Variables = dict[str, tuple[tuple[str, ...], NDArray]]
"""By name, dimensions and values."""

TEXTS = ("settings", "diverged", "made_with", "dimensions", "digest")


class DamagedCellError(Exception):
    """A file that is not what was written."""


@dataclass(frozen=True)
class CellFile:
    """What is kept of a run.

    settings : everything that it depended on
    variables : its metrics, by round, and by client or OFDM symbol where there are several
    diverged : why it stopped before its time; empty if it did not
    made_with : versions of the packages
    """

    settings: Mapping[str, Any]
    variables: Variables
    diverged: str
    made_with: Mapping[str, str]

    def is_of(self, cell: Cell) -> bool:
        """Whether it is the run that ``cell`` describes, as far as both name the same options.

        One of another version may know fewer of them.
        """
        mine, others = flat(self.settings), flat(json.loads(json.dumps(cell.settings())))
        return all(mine[key] == others[key] for key in mine.keys() & others.keys())

    def last_accuracy(self) -> list[float]:
        """Of the last test, if there was one."""
        _, tests = self.variables.get("test_accuracy", ((), np.zeros(0)))
        return [float(test) for test in tests if not np.isnan(test)][-1:]

    def write(self, path: Path) -> None:
        """Whole or not at all."""
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
        try:
            content = path.read_bytes()
            with h5py.File(io.BytesIO(content), "r") as file:  # a quarter of h5netcdf's time
                texts = {name: file.attrs[name] for name in TEXTS}
                dimensions = json.loads(texts["dimensions"])
                variables = {
                    name: (tuple(dims), np.asarray(file[name][...]))
                    for name, dims in dimensions.items()
                }
            found = texts["digest"]
            cell = cls(
                json.loads(texts["settings"]),
                variables,
                texts["diverged"],
                json.loads(texts["made_with"]),
            )
        except FileNotFoundError:
            raise
        except Exception as error:  # whatever a library makes of a file that is none of its own
            raise DamagedCellError(f"{path} cannot be read: {error}") from error
        if cell._digest() != found:
            raise DamagedCellError(f"{path} has been changed since it was written")
        return cell

    def _texts(self) -> dict[str, str]:
        return {
            "settings": json.dumps(self.settings),
            "diverged": self.diverged,
            "made_with": json.dumps(self.made_with),
            "dimensions": json.dumps({name: dims for name, (dims, _) in self.variables.items()}),
        }

    def _digest(self) -> str:
        total = hashlib.sha256(json.dumps(self._texts()).encode())
        for name, (dims, values) in sorted(self.variables.items()):
            total.update(f"{name}{dims}{values.dtype.str}{values.shape}".encode())
            total.update(np.ascontiguousarray(values).tobytes())
        return total.hexdigest()


def variables_of(history: History) -> Variables:
    """The metrics of a run; what is true or false as 1 or 0."""
    variables: Variables = {"weight": (("client",), history.weights)}
    for name, values in history.metrics.items():
        inner = "symbol" if name == "symbol_load" else "client"
        dims = ("round", inner)[: values.ndim]
        kept = values.astype(np.int8) if values.dtype == bool else values
        variables[name] = (dims, kept)
    return variables
