r"""Amplifiers that saturate, and deliberate clipping.

All act on the amplitude r of a sample and leave its phase. The saturation amplitude is

    A = rms 10^(backoff_db / 20)

with rms the root of the client's budgeted mean sample power: the operating point does not
follow the current update. They work at the grid's own rate, so distortion beyond its band folds
back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray
from otafl._base.decibels import amplitude_from_db
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, integer, number
from phy.grid import OfdmGrid
from phy.impairments.impairment import Impairment, SlotContext
from phy.waveform import demodulate, empty_bins, from_bins, modulate, to_bins


def saturation(rms: FloatArray, backoff_db: float) -> Float32Array:
    """Return A, [num_devices, 1]; not zero where nothing arrives."""
    level = np.maximum(rms * amplitude_from_db(backoff_db), np.finfo(np.float32).tiny)
    return level.astype(np.float32)[:, None]


@options
@dataclass(frozen=True)
class SoftLimiter(Impairment):
    """An ideal, predistorted amplifier: linear up to A, constant beyond: min(r, A).

    Parameters
    ----------
    backoff_db : float
        Saturation power over the budgeted mean power [dB].
    """

    backoff_db: float = 8.0

    def __post_init__(self) -> None:
        assign(self, backoff_db=checked_backoff("SoftLimiter", self.backoff_db))

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples, limited in amplitude."""
        level = saturation(slot.rms, self.backoff_db)
        amplitude = np.abs(samples)
        slot.report_clipping(amplitude, level)
        return samples * (level / np.maximum(amplitude, level))


@options
@dataclass(frozen=True)
class Rapp(Impairment):
    """A solid-state amplifier: r / (1 + (r / A)^(2 p))^(1 / (2 p)).

    C. Rapp, "Effects of HPA-nonlinearity on a 4-DPSK/OFDM-signal for a digital sound broadcasting
    system", 2nd European Conference on Satellite Communications, 1991.

    Parameters
    ----------
    backoff_db : float
        Saturation power over the budgeted mean power [dB].
    smoothness : float
        p; the soft limiter is the limit for large p.
    """

    backoff_db: float = 8.0
    smoothness: float = 2.0

    def __post_init__(self) -> None:
        assign(
            self,
            backoff_db=checked_backoff("Rapp", self.backoff_db),
            smoothness=number("Rapp.smoothness", self.smoothness, least=0.1, most=100),
        )

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples, compressed in amplitude."""
        level = saturation(slot.rms, self.backoff_db)
        amplitude = np.abs(samples)
        slot.report_clipping(amplitude, level)
        # of r / A and its inverse, the one whose power cannot overflow
        small = np.minimum(amplitude, level) / np.maximum(amplitude, level)
        root = np.power(1 + np.power(small, 2 * self.smoothness), -0.5 / self.smoothness)
        return samples * (root * (level / np.maximum(amplitude, level)))


@options
@dataclass(frozen=True)
class ClipAndFilter(Impairment):
    """Deliberate clipping in digital baseband, followed by filtering of the out-of-band part.

    The oversampled symbol is clipped; what then falls outside the used carriers is removed, which
    lets the peaks grow again a little. J. Armstrong, "Peak-to-average power reduction for OFDM by
    repeated clipping and frequency domain filtering", Electronics Letters 38(5), 2002. It comes
    before all other impairments of ``transmit``.

    Parameters
    ----------
    backoff_db : float
        Clipping power over the budgeted mean power [dB].
    passes : int
        Number of clip-and-filter passes.
    oversampling : int
        Oversampling factor used for clipping.
    """

    backoff_db: float = 8.0
    passes: int = 1
    oversampling: int = 4
    digital = True

    def __post_init__(self) -> None:
        assign(
            self,
            backoff_db=checked_backoff("ClipAndFilter", self.backoff_db),
            passes=integer("ClipAndFilter.passes", self.passes, least=1, most=100),
            oversampling=integer(
                "ClipAndFilter.oversampling", self.oversampling, least=1, most=100
            ),
        )

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Reject the server's side."""
        if side == "receive":
            raise OptionError(
                "ClipAndFilter",
                "first in transmit: it acts before a signal leaves digital baseband",
                got="it in receive",
            )

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples of the symbols, clipped and filtered."""
        grid, elements = slot.grid, demodulate(slot.grid, samples, 0, slot.num_symbols)
        level = saturation(slot.rms, self.backoff_db)
        fine = self._oversampled(grid, elements)
        slot.report_clipping(np.abs(fine).reshape(len(level), -1), level)
        return modulate(grid, self.shape(grid, elements, slot.rms))

    def shape(self, grid: OfdmGrid, elements: ComplexArray, rms: FloatArray) -> ComplexArray:
        """Return the symbols, clipped and filtered."""
        level = saturation(rms, self.backoff_db)[..., None]
        for _ in range(self.passes):
            fine = self._oversampled(grid, elements)
            fine *= level / np.maximum(np.abs(fine), level)
            spectrum = fft.fft(fine, norm="ortho", overwrite_x=True)
            elements = from_bins(grid, spectrum) / np.float32(self.oversampling**0.5)
        return elements

    def _oversampled(self, grid: OfdmGrid, elements: ComplexArray) -> ComplexArray:
        """Return the oversampled symbols, with the amplitude of their samples."""
        bins = to_bins(grid, elements, empty_bins(elements, grid.fft_size * self.oversampling))
        fine = fft.ifft(bins, norm="ortho", overwrite_x=True)
        return fine * np.float32(self.oversampling**0.5)


def checked_backoff(owner: str, value: float) -> float:
    """Validate a backoff [dB]."""
    return number(f"{owner}.backoff_db", value, least=-60, most=100)
