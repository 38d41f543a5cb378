r"""Oscillators that are off: carrier offset and phase noise.

Clients and server agree on the phase when a slot begins; what happens from then on is the fault.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phy.checks import Scalars, assign, choice, number, numbers_each
from phy.grid import OfdmGrid
from phy.impairments.burst import LARGEST_DEVIATION, Burst
from phy.phasors import phasors
from phy.synchronisation import CarrierSync


@dataclass(frozen=True)
class CarrierOffset:
    r"""A carrier frequency that is off by eps subcarrier spacings: x[n] exp(j 2 pi eps n / N).

    Each device has an offset of its own for the whole run: ``offset`` plus a normal draw. At the
    server it is the offset that signals seem to have.

    offset : one, or one a client (by global index)
    std : of what is drawn for each device, cut at four deviations
    unit : "spacing", for what is left after synchronisation, or "ppm" of the carrier frequency, for
        a crystal
    carrier_frequency : [Hz], for offsets in ppm
    sync : how the clients find and undo their offsets, or None

    An offset beyond half a spacing puts a carrier nearer to its neighbour's place than to its own,
    where a receiver without ``sync`` has lost it: it is refused.
    """

    offset: Scalars = 0.0
    std: float = 0.0
    unit: str = "spacing"
    carrier_frequency: float = 3.5e9
    sync: CarrierSync | None = None

    def __post_init__(self) -> None:
        assign(
            self,
            offset=numbers_each("CarrierOffset.offset", self.offset),
            std=number("CarrierOffset.std", self.std, least=0),
            unit=choice("CarrierOffset.unit", self.unit, ("spacing", "ppm")),
            carrier_frequency=number("carrier_frequency", self.carrier_frequency, above=0),
        )
        if self.sync is not None and not isinstance(self.sync, CarrierSync):
            raise ValueError(
                f"CarrierOffset.sync = {self.sync!r} is not allowed: give CarrierSync(), or None"
            )
        if self.unit == "spacing":
            self._refuse_beyond(1.0)

    def check(self, grid: OfdmGrid) -> None:
        """Refuse an offset that is too large for this grid."""
        self._refuse_beyond(self._spacings_per_unit(grid))

    def _spacings_per_unit(self, grid: OfdmGrid) -> float:
        if self.unit == "spacing":
            return 1.0
        return 1e-6 * self.carrier_frequency / grid.subcarrier_spacing

    def _refuse_beyond(self, spacings_per_unit: float) -> None:
        largest = np.abs(self.offset).max() + LARGEST_DEVIATION * self.std
        limit = 0.5 if self.sync is None else self.sync.largest_offset
        if largest * spacings_per_unit > limit * (1 + 1e-12):
            why = "beyond which a carrier is taken for its neighbour; sync=CarrierSync() helps"
            if self.sync is not None:
                why = "the range of sync"
            raise ValueError(
                f"CarrierOffset(offset={self.offset!r}, std={self.std!r}, unit={self.unit!r}) is "
                f"not allowed: with four deviations it may reach "
                f"{largest * spacings_per_unit:.3g} subcarrier spacings, give at most {limit:g}, "
                f"{why}"
            )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        scale = self._spacings_per_unit(burst.grid)
        offset = burst.devices.values("CarrierOffset.offset", self.offset, self.std, scale)
        if self.sync is not None:
            assert burst.response is not None
            found = self.sync.estimate(offset, burst.grid, burst.response, burst.rng)
            offset = np.subtract(offset, found)
        times = burst.start + np.arange(samples.shape[1])
        turns = np.multiply.outer(offset / burst.grid.fft_size, times)
        return samples * phasors(turns)


@dataclass(frozen=True)
class PhaseNoise:
    r"""A free-running oscillator: a Wiener phase with E[exp(j (phi(t) - phi(0)))] = exp(-pi dv t).

    Each device has its own, new in every slot. A step of one sample has the variance 2 pi dv / f_s.

    linewidth : dv, the full width at half maximum of the oscillator's Lorentzian line [Hz]
    """

    linewidth: float = 10.0

    def __post_init__(self) -> None:
        assign(self, linewidth=number("PhaseNoise.linewidth", self.linewidth, least=0, most=1e9))

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        deviation = np.sqrt(2 * np.pi * self.linewidth / burst.grid.sampling_rate)
        steps = burst.rng.standard_normal(samples.shape, dtype=np.float32)
        steps[:, 0] = 0
        turns = np.cumsum(steps, axis=1, dtype=np.float64) * (deviation / (2 * np.pi))
        return samples * phasors(turns)
