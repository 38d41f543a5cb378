"""The state that an algorithm keeps per device, for devices that have taken part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Rows = Mapping[str, NDArray]
"""Values of one device by name."""


@dataclass(frozen=True)
class DeviceState:
    """Values per device, kept for those that have taken part.

    Parameters
    ----------
    rows : mapping of int to mapping of str to ndarray
        Values by name, by the global index of the device.
    """

    rows: Mapping[int, Rows] = field(default_factory=dict)

    def of_clients(self, clients: NDArray[np.int64]) -> dict[str, NDArray]:
        """Return arrays [m, ...] by name, with zeros for devices that have not taken part."""
        if not self.rows:
            return {}
        known = next(iter(self.rows.values()))
        zeros = {name: np.zeros_like(value) for name, value in known.items()}
        mine = [self.rows.get(client, zeros) for client in clients.tolist()]
        return {name: np.stack([row[name] for row in mine]) for name in known}

    def updated(self, clients: NDArray[np.int64], arrays: Mapping[str, NDArray]) -> DeviceState:
        """Return the state with new values [m, ...] of these clients."""
        if not arrays:
            return self
        new = {
            client: {name: array[place].copy() for name, array in arrays.items()}
            for place, client in enumerate(clients.tolist())
        }
        return DeviceState({**self.rows, **new})

    def to_arrays(self) -> dict[str, NDArray]:
        """Return everything as arrays, for a checkpoint."""
        devices = np.array(sorted(self.rows), np.int64)
        return {"device": devices, **self.of_clients(devices)} if self.rows else {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> DeviceState:
        """Return the state from the arrays of :meth:`to_arrays`."""
        values = {name: array for name, array in arrays.items() if name != "device"}
        return cls().updated(arrays["device"], values) if values else cls()
