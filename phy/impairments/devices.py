"""Hardware that stays with a device for the whole run."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from otafl._base.arrays import FloatArray
from otafl._base.validation import OptionError, Scalars

LARGEST_DEVIATION = 4.0  # of a per-device draw, in standard deviations


class Devices:
    """The hardware of some clients, or of the server.

    Parameters
    ----------
    key : int
        Identifies the population; see :func:`phy.randomness.device_key`.
    members : sequence of int
        Global indices.
    """

    def __init__(self, key: int, members: Sequence[int]) -> None:
        self.key = key
        self.members = [int(member) for member in members]
        self._drawn: dict[str, FloatArray] = {}

    def __len__(self) -> int:
        return len(self.members)

    def normals(self, purpose: str) -> FloatArray:
        """Return one standard normal per device, truncated at four standard deviations.

        A device always has the same value for the same purpose.
        """
        if purpose not in self._drawn:
            # the counter's last word separates purposes from each other and from the fading
            place = [0, 0, 0, 1 + zlib.crc32(purpose.encode())]
            uniform = [
                np.random.Generator(
                    np.random.Philox(key=[self.key, member], counter=place)
                ).random()
                for member in self.members
            ]
            edge = ndtr(-LARGEST_DEVIATION)
            self._drawn[purpose] = ndtri(edge + (1 - 2 * edge) * np.array(uniform))
        return self._drawn[purpose]

    def values(
        self, purpose: str, mean: Scalars, deviation: float, scale: float = 1.0
    ) -> FloatArray:
        """Return one value per device: its mean plus a per-device draw, times ``scale``.

        Parameters
        ----------
        purpose : str
            Names the draw.
        mean : float or sequence of float
            A scalar, or one value per client by global index.
        deviation : float
            Standard deviation of the per-device draw.
        scale : float
            Unit of both.
        """
        each = np.asarray(mean, np.float64)
        each = each[self.members] if each.ndim else each
        drawn = deviation * self.normals(purpose) if deviation else np.zeros(len(self))
        return scale * (each + drawn)


def check_per_device(name: str, value: Scalars, side: str, num_devices: int | None) -> None:
    """Reject one value per client at the server, or too few of them for these devices."""
    if not isinstance(value, tuple):
        return
    if side == "receive":
        raise OptionError(f"receive: {name}", "a scalar, the server's own", value)
    if num_devices is not None and num_devices > len(value):
        raise OptionError(
            name,
            f"a scalar or one value per client: client {num_devices - 1} takes part",
            got=f"{len(value)} values",
        )
