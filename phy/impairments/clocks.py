"""Timing offset and sampling-clock offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otafl._base.arrays import ComplexArray
from otafl._base.names import options
from otafl._base.validation import OptionError, Scalars, assign, number, scalars, typed
from phy.grid import OfdmGrid
from phy.impairments.devices import LARGEST_DEVIATION, check_per_device
from phy.impairments.impairment import Impairment, SlotContext
from phy.resampling import delayed
from phy.synchronisation import TimingAdvance


@options
@dataclass(frozen=True)
class TimingOffset(Impairment):
    """A slot that arrives ``offset`` samples late, or early if negative.

    It depends on a device and its place and stays the same for the whole run. Samples that would
    come before a slot begins are cut off; they belong to the first prefix unless the offset is
    longer. Fractions of a sample are interpolated with a filter that is accurate for 0.84 of the
    band, and so for grids with guards; whole samples are exact on any grid.

    Parameters
    ----------
    offset : float or sequence of float
        A scalar, or one value per client by global index [samples].
    std : float
        Standard deviation of the per-device draw, truncated at 4 standard deviations [samples].
    advance : TimingAdvance or None
        How the server tells clients to send earlier.
    """

    offset: Scalars = 0.0
    std: float = 0.0
    advance: TimingAdvance | None = None
    device_draws = ("TimingOffset.offset",)

    def __post_init__(self) -> None:
        assign(
            self,
            offset=scalars("TimingOffset.offset", self.offset),
            std=number("TimingOffset.std", self.std, least=0),
        )
        must = "TimingAdvance(...) or None"
        typed("TimingOffset.advance", self.advance, TimingAdvance | None, must)

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Reject offsets too large for the grid, and client-only options at the server."""
        check_per_device("TimingOffset.offset", self.offset, side, num_devices)
        if side == "receive" and self.advance is not None:
            raise OptionError(
                "receive: TimingOffset.advance",
                "None: it is for clients, who follow the server; put it in transmit",
                self.advance,
            )
        largest = np.abs(self.offset).max() + LARGEST_DEVIATION * self.std
        limit = grid.fft_size if self.advance is None else grid.fft_size // 2
        if largest > limit:
            why = "beyond which a symbol is taken for its neighbour"
            if self.advance is not None:
                why = "half of fft_size, the range of advance"
            raise OptionError(
                "TimingOffset",
                f"at most {limit} samples including four standard deviations, {why}",
                got=f"offset={self.offset!r} and std={self.std!r}, which may reach {largest:.3g}",
            )

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples, delayed."""
        offset = slot.devices.values("TimingOffset.offset", self.offset, self.std)
        if self.advance is not None:
            assert slot.response is not None
            assert slot.estimate is not None
            offset = offset - self.advance.command(
                offset, slot.grid, slot.response, slot.estimate, slot.rng
            )
        return delayed(samples, offset)


@options
@dataclass(frozen=True)
class ClockOffset(Impairment):
    r"""A sampling clock that is fast by some parts per million: x[n] becomes x(n (1 + ppm 1e-6)).

    Carrier k then turns as if it had a carrier offset of k ppm 1e-6 spacings, and the symbols drift
    relative to the server's timing. Clocks agree when a slot begins. Interpolated as for
    TimingOffset. At the server it is the offset that the clients' clocks appear to have.

    Parameters
    ----------
    ppm : float or sequence of float
        A scalar, or one value per client by global index.
    std_ppm : float
        Standard deviation of the per-device draw, truncated at 4 standard deviations.
    """

    ppm: Scalars = 0.0
    std_ppm: float = 0.0
    device_draws = ("ClockOffset.ppm",)

    def __post_init__(self) -> None:
        assign(
            self,
            ppm=scalars("ClockOffset.ppm", self.ppm, least=-1000, most=1000),
            std_ppm=number("ClockOffset.std_ppm", self.std_ppm, least=0, most=250),
        )

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Reject one value per client at the server, or too few of them."""
        check_per_device("ClockOffset.ppm", self.ppm, side, num_devices)

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples as a drifting clock takes them."""
        drift = slot.devices.values("ClockOffset.ppm", self.ppm, self.std_ppm, 1e-6)
        return delayed(samples, -drift * slot.start, -drift)
