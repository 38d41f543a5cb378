"""What hardware may draw on while a burst passes through it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from phy.checks import Scalars
from phy.grid import OfdmGrid

LARGEST_DEVIATION = 4.0  # of what is drawn for a device, in standard deviations


class Devices:
    """The hardware of some clients, or of the server, that stays with them over the run.

    key : names the population, see :func:`phy.randomness.device_key`
    members : global indices
    """

    def __init__(self, key: int, members: Sequence[int]) -> None:
        self.key = key
        self.members = [int(member) for member in members]
        self._drawn: dict[str, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return len(self.members)

    def normals(self, purpose: str) -> NDArray[np.float64]:
        """One standard normal a device, cut at four deviations, always the same for a purpose."""
        if purpose not in self._drawn:
            # the last word of the counter keeps faults apart from each other and from the fading
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
    ) -> NDArray[np.float64]:
        """``mean``, one for all or by global index, and what was drawn for each device."""
        each = np.asarray(mean, np.float64)
        each = each[self.members] if each.ndim else each
        drawn = deviation * self.normals(purpose) if deviation else np.zeros(len(self))
        return scale * (each + drawn)


@dataclass(frozen=True)
class Burst:
    """One slot's samples on their way through the hardware of some devices.

    grid : numerology
    num_symbols : OFDM symbols of this burst
    rms : [num_devices], the amplitude that the hardware is set up for: at a client the root of its
        budgeted mean sample power, at the server that of what arrives in this burst
    devices : whose hardware it is
    rng : for what is new in every burst
    response, estimate : [num_devices, used carriers], the channels of this burst with their path
        gain, and what the clients know of them; None at the server
    start : when the first sample is, counted from the beginning of the slot
    notes : what is to be reported, [num_devices] each
    """

    grid: OfdmGrid
    num_symbols: int
    rms: NDArray[np.float64]
    devices: Devices
    rng: np.random.Generator
    response: NDArray[np.complex64] | None = None
    estimate: NDArray[np.complex64] | None = None
    start: int = 0
    notes: dict[str, NDArray[np.float64]] = field(default_factory=dict)


class Impairment(Protocol):
    """A fault of hardware. To write one, have a frozen dataclass with this method."""

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        """``samples [num_devices, n]`` of a burst, at the grid's rate, as they leave."""
