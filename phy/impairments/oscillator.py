r"""Oscillator impairments: carrier offset and phase noise.

Clients and server agree on the phase when a slot begins; what happens from then on is the
impairment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otafl._base.arrays import ComplexArray
from otafl._base.names import options
from otafl._base.validation import OptionError, Scalars, assign, choice, number, scalars, typed
from phy.grid import OfdmGrid
from phy.impairments.devices import LARGEST_DEVIATION, check_per_device
from phy.impairments.impairment import Impairment, SlotContext
from phy.phasors import phasors
from phy.synchronisation import CarrierSync


@options
@dataclass(frozen=True)
class CarrierOffset(Impairment):
    r"""A carrier frequency that is off by eps subcarrier spacings: x[n] exp(j 2 pi eps n / N).

    Each device has an offset of its own for the whole run: ``offset`` plus a normal draw. At the
    server it is the offset that signals appear to have.

    Parameters
    ----------
    offset : float or sequence of float
        A scalar, or one value per client by global index.
    std : float
        Standard deviation of the per-device draw, truncated at 4 standard deviations.
    unit : {"spacing", "ppm"}
        Subcarrier spacings, for the offset left after synchronisation, or parts per million of the
        carrier frequency, for a crystal.
    carrier_frequency : float
        Carrier frequency that offsets in ppm refer to [Hz].
    sync : CarrierSync or None
        How the clients estimate and undo their offsets.

    Notes
    -----
    An offset beyond half a spacing puts a carrier nearer to its neighbour's place than to its own,
    where a receiver without ``sync`` has lost it: it is refused.
    """

    offset: Scalars = 0.0
    std: float = 0.0
    unit: str = "spacing"
    carrier_frequency: float = 3.5e9
    sync: CarrierSync | None = None
    device_draws = ("CarrierOffset.offset",)

    def __post_init__(self) -> None:
        assign(
            self,
            offset=scalars("CarrierOffset.offset", self.offset),
            std=number("CarrierOffset.std", self.std, least=0),
            unit=choice("CarrierOffset.unit", self.unit, ("spacing", "ppm")),
            carrier_frequency=number("carrier_frequency", self.carrier_frequency, above=0),
        )
        must = "CarrierSync(...) or None"
        typed("CarrierOffset.sync", self.sync, CarrierSync | None, must)
        if self.unit == "spacing":
            self._refuse_beyond_range(1.0)

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Reject offsets too large for the grid, and client-only options at the server."""
        check_per_device("CarrierOffset.offset", self.offset, side, num_devices)
        self._refuse_beyond_range(self._spacings_per_unit(grid))
        if self.sync is not None:
            if side == "receive":
                raise OptionError(
                    "receive: CarrierOffset.sync",
                    "None: it is for clients, who follow the server; put it in transmit",
                    self.sync,
                )
            self.sync.check(grid)

    def _spacings_per_unit(self, grid: OfdmGrid) -> float:
        if self.unit == "spacing":
            return 1.0
        return 1e-6 * self.carrier_frequency / grid.subcarrier_spacing

    def _refuse_beyond_range(self, spacings_per_unit: float) -> None:
        largest = np.abs(self.offset).max() + LARGEST_DEVIATION * self.std
        limit = 0.5 if self.sync is None else self.sync.largest_offset
        if largest * spacings_per_unit > limit * (1 + 1e-12):
            why = "beyond which a carrier is taken for its neighbour (sync=CarrierSync() helps)"
            if self.sync is not None:
                why = "the range of sync"
            raise OptionError(
                "CarrierOffset",
                f"at most {limit:g} subcarrier spacings including four standard deviations, {why}",
                got=f"offset={self.offset!r} and std={self.std!r} in unit={self.unit!r}, which may "
                f"reach {largest * spacings_per_unit:.3g} spacings",
            )

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples rotated by the carrier offset."""
        scale = self._spacings_per_unit(slot.grid)
        offset = slot.devices.values("CarrierOffset.offset", self.offset, self.std, scale)
        if self.sync is not None:
            assert slot.response is not None
            found = self.sync.estimate(offset, slot.grid, slot.response, slot.rng)
            offset = np.subtract(offset, found)
        times = slot.start + np.arange(samples.shape[1])
        turns = np.multiply.outer(offset / slot.grid.fft_size, times)
        return samples * phasors(turns)


@options
@dataclass(frozen=True)
class PhaseNoise(Impairment):
    r"""A free-running oscillator: a Wiener phase with E[exp(j (phi(t) - phi(0)))] = exp(-pi dv t).

    Each device has its own, new in every slot. A step of one sample has variance 2 pi dv / f_s.

    Parameters
    ----------
    linewidth : float
        dv, the full width at half maximum of the oscillator's Lorentzian line [Hz].
    """

    linewidth: float = 10.0

    def __post_init__(self) -> None:
        assign(self, linewidth=number("PhaseNoise.linewidth", self.linewidth, least=0, most=1e9))

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples rotated by the phase noise."""
        deviation = np.sqrt(2 * np.pi * self.linewidth / slot.grid.sampling_rate)
        steps = slot.rng.standard_normal(samples.shape, dtype=np.float32)
        steps[:, 0] = 0
        turns = np.cumsum(steps, axis=1, dtype=np.float64) * (deviation / (2 * np.pi))
        return samples * phasors(turns)
