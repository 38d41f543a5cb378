"""OFDM numerology: which carriers and symbols a block of data occupies, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from otafl._base.arrays import BoolArray, FloatArray, IntArray
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, boolean, integer, number


@options
@dataclass(frozen=True)
class OfdmGrid:
    """A cyclic-prefix OFDM resource grid.

    Carriers are counted as in Sionna's ``ResourceGrid``: from the lowest frequency up.

    Parameters
    ----------
    fft_size : int
        Carriers of the FFT, used or not.
    cp_length : int
        Cyclic prefix [samples], at most ``fft_size``.
    guards : (int, int)
        Unused carriers at the lower and at the upper edge of the band.
    dc_null : bool
        Leave the carrier at frequency zero empty.
    subcarrier_spacing : float
        [Hz]
    symbols_per_slot : int
        OFDM symbols per slot. A moving channel is estimated once per slot.
    pilots : int
        How many of the used carriers hold pilots instead of data in every symbol, evenly spread.
        From them WaveformLink's server estimates the phase common to all clients.

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
            raise OptionError("cp_length", f"at most fft_size = {fft_size}", cp_length)
        if not isinstance(self.guards, tuple | list | np.ndarray) or len(self.guards) != 2:
            raise OptionError("guards", "(left, right)", self.guards)
        guards = tuple(integer(f"guards[{i}]", g, least=0) for i, g in enumerate(self.guards))
        assign(
            self,
            fft_size=fft_size,
            cp_length=cp_length,
            guards=guards,
            dc_null=boolean("dc_null", self.dc_null),
            subcarrier_spacing=number("subcarrier_spacing", self.subcarrier_spacing, above=0),
            symbols_per_slot=integer("symbols_per_slot", self.symbols_per_slot, least=1),
            pilots=integer("pilots", self.pilots, least=0),
        )
        left, right = guards
        if self.dc_null and not left <= fft_size // 2 < fft_size - right:
            raise OptionError(
                "guards",
                f"left <= {fft_size // 2} and right < {fft_size - fft_size // 2}, so that the "
                "carrier at frequency zero lies between them (dc_null = True)",
                guards,
            )
        if left + right >= fft_size or len(self.used_carriers) == 0:
            raise OptionError(
                "guards",
                f"fewer: with dc_null = {self.dc_null} they leave no carrier of "
                f"fft_size = {fft_size}",
                guards,
            )
        if self.pilots >= len(self.used_carriers):
            raise OptionError(
                "pilots",
                f"fewer than the {len(self.used_carriers)} used carriers, or no carrier is left "
                "for data",
                self.pilots,
            )

    @classmethod
    def nr(cls, subcarrier_spacing: float = 30e3) -> OfdmGrid:
        """Return a 20 MHz channel of 5G NR (3GPP TS 38.101-1, table 5.3.2-1).

        Parameters
        ----------
        subcarrier_spacing : float
            15e3, 30e3 or 60e3 [Hz]

        Examples
        --------
        >>> [OfdmGrid.nr(s).num_carriers // 12 for s in (15e3, 30e3, 60e3)]
        [106, 51, 24]
        """
        resource_blocks = {15e3: 106, 30e3: 51, 60e3: 24}
        if subcarrier_spacing not in resource_blocks:
            raise OptionError("subcarrier_spacing", "15e3, 30e3 or 60e3", subcarrier_spacing)
        fft_size = round(30.72e6 / subcarrier_spacing)
        guard = (fft_size - 12 * resource_blocks[subcarrier_spacing]) // 2
        return cls(
            fft_size=fft_size,
            cp_length=144 * fft_size // 2048,  # the normal prefix, the slot's first symbol apart
            guards=(guard, guard),
            dc_null=False,
            subcarrier_spacing=subcarrier_spacing,
        )

    @cached_property
    def used_carriers(self) -> IntArray:
        """Carriers of data and pilots, counted from frequency zero, ascending."""
        left, right = self.guards
        used = np.arange(left, self.fft_size - right) - self.fft_size // 2
        used = used[used != 0] if self.dc_null else used
        used.setflags(write=False)
        return used

    @cached_property
    def is_pilot(self) -> BoolArray:
        """Whether each of the used carriers holds pilots."""
        used = len(self.used_carriers)
        pilot = np.zeros(used, bool)
        pilot[((np.arange(self.pilots) + 0.5) * used / max(self.pilots, 1)).astype(int)] = True
        pilot.setflags(write=False)
        return pilot

    @cached_property
    def carriers(self) -> IntArray:
        """[num_carriers] data carriers, counted from frequency zero, ascending."""
        data = self.used_carriers[~self.is_pilot]
        data.setflags(write=False)
        return data

    @cached_property
    def num_carriers(self) -> int:
        """Number of carriers that hold data."""
        return len(self.carriers)

    @cached_property
    def without_pilots(self) -> OfdmGrid:
        """The same grid with data on every used carrier."""
        return replace(self, pilots=0) if self.pilots else self

    @property
    def frequencies(self) -> FloatArray:
        """[num_carriers] baseband frequencies of the data carriers [Hz]."""
        return self.carriers * np.float64(self.subcarrier_spacing)

    @property
    def sampling_rate(self) -> float:
        """Samples per second [Hz]."""
        return self.fft_size * self.subcarrier_spacing

    @property
    def symbol_length(self) -> int:
        """Samples of an OFDM symbol with its prefix."""
        return self.fft_size + self.cp_length

    @property
    def cp_duration(self) -> float:
        """Duration of the cyclic prefix [s]."""
        return self.cp_length / self.sampling_rate

    @property
    def symbol_duration(self) -> float:
        """Duration of an OFDM symbol with its prefix [s]."""
        return self.symbol_length / self.sampling_rate

    @property
    def slot_duration(self) -> float:
        """Duration of a slot [s]."""
        return self.symbols_per_slot * self.symbol_duration

    def num_symbols(self, length: int) -> int:
        """Return the OFDM symbols of a real vector of ``length`` entries, two per carrier."""
        length = integer("length", length, least=1)
        return -(-length // (2 * self.num_carriers))

    def slots(self, num_symbols: int) -> list[slice]:
        """Return the symbols of each slot of a block; the last slot may be shorter."""
        starts = range(0, num_symbols, self.symbols_per_slot)
        return [slice(at, min(at + self.symbols_per_slot, num_symbols)) for at in starts]

    def slot_starts(self, num_slots: int, pilot_symbols: int) -> FloatArray:
        """Return when the data of each slot begin, counted from the start of the block.

        Parameters
        ----------
        num_slots : int
            Slots of the block.
        pilot_symbols : int
            OFDM symbols with pilots ahead of the data of each slot.

        Returns
        -------
        ndarray of float, shape [num_slots]
            [samples]
        """
        period = (self.symbols_per_slot + pilot_symbols) * self.symbol_length
        return np.arange(num_slots) * np.float64(period) + pilot_symbols * self.symbol_length

    def slot_middles(self, num_symbols: int, pilot_symbols: int) -> FloatArray:
        """Return the middle of the data of each slot, when a moving channel is observed.

        Parameters and result are those of :meth:`slot_starts`, for a block of ``num_symbols``.
        """
        slots = self.slots(num_symbols)
        counts = np.array([slot.stop - slot.start for slot in slots], np.float64)
        return self.slot_starts(len(slots), pilot_symbols) + counts * self.symbol_length / 2
