"""Clocks that are off: a burst that comes early or late, and one that drifts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phy.checks import Scalars, assign, number, numbers_each
from phy.grid import OfdmGrid
from phy.impairments.burst import LARGEST_DEVIATION, Burst
from phy.resampling import delayed
from phy.synchronisation import TimingAdvance


@dataclass(frozen=True)
class TimingOffset:
    """A burst that comes ``offset`` samples late, or early if negative.

    It belongs to a device and its place: it stays for the whole run. What would come before a slot
    begins is cut off, of the first prefix if it is not longer. Parts of a sample are
    interpolated with a filter that holds for 0.85 of the band and so for grids with guards; whole
    samples are exact on any.

    offset : [samples], one, or one a client (by global index)
    std : of what is drawn for each device, cut at four deviations [samples]
    advance : how the server tells clients to send earlier, or None
    """

    offset: Scalars = 0.0
    std: float = 0.0
    advance: TimingAdvance | None = None

    def __post_init__(self) -> None:
        assign(
            self,
            offset=numbers_each("TimingOffset.offset", self.offset),
            std=number("TimingOffset.std", self.std, least=0),
        )
        if self.advance is not None and not isinstance(self.advance, TimingAdvance):
            raise ValueError(
                f"TimingOffset.advance = {self.advance!r} is not allowed: give TimingAdvance(), or "
                "None"
            )

    def check(self, grid: OfdmGrid) -> None:
        """Refuse an offset that is too large for this grid."""
        largest = np.abs(self.offset).max() + LARGEST_DEVIATION * self.std
        limit = grid.fft_size if self.advance is None else grid.fft_size // 2
        if largest > limit:
            why = "beyond which a symbol is taken for its neighbour"
            if self.advance is not None:
                why = "half of fft_size, the range of advance"
            raise ValueError(
                f"TimingOffset(offset={self.offset!r}, std={self.std!r}) is not allowed: with four "
                f"deviations it may reach {largest:.3g} samples, give at most {limit}, {why}"
            )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        offset = burst.devices.values("TimingOffset.offset", self.offset, self.std)
        if self.advance is not None:
            assert burst.response is not None
            assert burst.estimate is not None
            offset = offset - self.advance.command(
                offset, burst.grid, burst.response, burst.estimate, burst.rng
            )
        return delayed(samples, offset)


@dataclass(frozen=True)
class ClockOffset:
    r"""A sampling clock that is fast by some parts in a million: x[n] becomes x(n (1 + ppm 1e-6)).

    Carrier k then turns as if it had a carrier offset of k ppm 1e-6 spacings, and the symbols slide
    against the server's. Clocks agree when a slot begins. Interpolated as for TimingOffset. At the
    server it is what the clients' clocks seem to have.

    ppm : one, or one a client (by global index)
    std_ppm : of what is drawn for each device, cut at four deviations
    """

    ppm: Scalars = 0.0
    std_ppm: float = 0.0

    def __post_init__(self) -> None:
        assign(
            self,
            ppm=numbers_each("ClockOffset.ppm", self.ppm, least=-1000, most=1000),
            std_ppm=number("ClockOffset.std_ppm", self.std_ppm, least=0, most=250),
        )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        drift = burst.devices.values("ClockOffset.ppm", self.ppm, self.std_ppm, 1e-6)
        return delayed(samples, -drift * burst.start, -drift)
