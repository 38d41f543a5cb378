"""Numerology: which carriers and symbols a block of data occupies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from phy.checks import assign, integer, number


@dataclass(frozen=True)
class OfdmGrid:
    """A cyclic-prefix OFDM resource grid.

    Carriers are counted as Sionna's ``ResourceGrid`` does: from the lowest frequency up, with
    ``guards = (left, right)`` unused at the two edges and, with ``dc_null``, the one at frequency
    zero unused too.

    Parameters
    ----------
    fft_size : carriers of the FFT, used or not
    cp_length : cyclic prefix [samples], at most ``fft_size``
    guards : unused carriers at the lower and the upper edge
    dc_null : leave the carrier at frequency zero empty
    subcarrier_spacing : [Hz]
    symbols_per_slot : OFDM symbols between two looks at the channel
    pilots : of the used carriers, how many hold pilots instead of data in every symbol, evenly
        spread; from them a server can tell the phase that all clients have in common

    Examples
    --------
    >>> grid = OfdmGrid()
    >>> grid.num_carriers, grid.num_symbols(7850)
    (400, 10)
    >>> f"{grid.num_symbols(1_000_000) * grid.symbol_duration * 1e3:.1f} ms"
    '46.9 ms'
    """

    fft_size: int = 512
    cp_length: int = 64
    guards: tuple[int, int] = (56, 55)
    dc_null: bool = True
    subcarrier_spacing: float = 30e3
    symbols_per_slot: int = 14
    pilots: int = 0

    def __post_init__(self) -> None:
        fft_size = integer("fft_size", self.fft_size, least=1)
        cp_length = integer("cp_length", self.cp_length, least=0)
        if cp_length > fft_size:
            raise ValueError(
                f"cp_length = {cp_length} is not allowed: give at most fft_size = {fft_size}"
            )
        if not isinstance(self.guards, tuple | list | np.ndarray) or len(self.guards) != 2:
            raise ValueError(f"guards = {self.guards!r} is not allowed: give (left, right)")
        guards = tuple(integer(f"guards[{i}]", g, least=0) for i, g in enumerate(self.guards))
        if not isinstance(self.dc_null, bool | np.bool_):
            raise ValueError(f"dc_null = {self.dc_null!r} is not allowed: give True or False")
        assign(
            self,
            fft_size=fft_size,
            cp_length=cp_length,
            guards=guards,
            dc_null=bool(self.dc_null),
            subcarrier_spacing=number("subcarrier_spacing", self.subcarrier_spacing, above=0),
            symbols_per_slot=integer("symbols_per_slot", self.symbols_per_slot, least=1),
            pilots=integer("pilots", self.pilots, least=0),
        )
        left, right = guards
        if self.dc_null and not left <= fft_size // 2 < fft_size - right:
            raise ValueError(
                f"guards = {guards} cover the carrier at frequency zero: with dc_null = True "
                f"give left <= {fft_size // 2} and right < {fft_size - fft_size // 2}"
            )
        if left + right >= fft_size or len(self.used_carriers) == 0:
            raise ValueError(
                f"guards = {guards} and dc_null = {self.dc_null} leave no carrier of "
                f"fft_size = {fft_size}: give fewer guards"
            )
        if self.pilots >= len(self.used_carriers):
            raise ValueError(
                f"pilots = {self.pilots} leave no carrier for data: give fewer than the "
                f"{len(self.used_carriers)} used carriers"
            )

    @classmethod
    def nr(cls, subcarrier_spacing: float = 30e3) -> OfdmGrid:
        """A 20 MHz channel of 5G NR at 15, 30 or 60 kHz (3GPP TS 38.101-1, table 5.3.2-1).

        >>> [OfdmGrid.nr(s).num_carriers // 12 for s in (15e3, 30e3, 60e3)]
        [106, 51, 24]
        """
        resource_blocks = {15e3: 106, 30e3: 51, 60e3: 24}
        if subcarrier_spacing not in resource_blocks:
            raise ValueError(
                f"subcarrier_spacing = {subcarrier_spacing!r} is not allowed: "
                "give 15e3, 30e3 or 60e3"
            )
        fft_size = round(30.72e6 / subcarrier_spacing)
        guard = (fft_size - 12 * resource_blocks[subcarrier_spacing]) // 2
        return cls(
            fft_size=fft_size,
            cp_length=144 * fft_size // 2048,  # the normal prefix of all but a slot's first symbol
            guards=(guard, guard),
            dc_null=False,
            subcarrier_spacing=subcarrier_spacing,
        )

    @cached_property
    def used_carriers(self) -> NDArray[np.int64]:
        """Those of data and pilots, counted from frequency zero, ascending."""
        left, right = self.guards
        used = np.arange(left, self.fft_size - right) - self.fft_size // 2
        used = used[used != 0] if self.dc_null else used
        used.setflags(write=False)
        return used

    @cached_property
    def is_pilot(self) -> NDArray[np.bool_]:
        """Which of the used carriers hold pilots."""
        used = len(self.used_carriers)
        pilot = np.zeros(used, bool)
        pilot[((np.arange(self.pilots) + 0.5) * used / max(self.pilots, 1)).astype(int)] = True
        pilot.setflags(write=False)
        return pilot

    @cached_property
    def carriers(self) -> NDArray[np.int64]:
        """[num_carriers] carriers of data, counted from frequency zero, ascending."""
        data = self.used_carriers[~self.is_pilot]
        data.setflags(write=False)
        return data

    @property
    def num_carriers(self) -> int:
        return len(self.carriers)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """[num_carriers] baseband frequencies of the carriers of data [Hz]."""
        return self.carriers * np.float64(self.subcarrier_spacing)

    @property
    def sampling_rate(self) -> float:
        """[Hz]"""
        return self.fft_size * self.subcarrier_spacing

    @property
    def cp_duration(self) -> float:
        """[s]"""
        return self.cp_length / self.sampling_rate

    @property
    def symbol_duration(self) -> float:
        """One OFDM symbol with its prefix [s]."""
        return (self.fft_size + self.cp_length) / self.sampling_rate

    @property
    def slot_duration(self) -> float:
        """[s]"""
        return self.symbols_per_slot * self.symbol_duration

    def num_symbols(self, length: int) -> int:
        """OFDM symbols for a real vector of ``length`` entries, two of them on each carrier."""
        length = integer("length", length, least=1)
        return -(-length // (2 * self.num_carriers))

    def num_slots(self, length: int) -> int:
        return -(-self.num_symbols(length) // self.symbols_per_slot)
