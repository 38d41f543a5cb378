r"""Amplifiers that saturate, and clipping on purpose.

All act on the amplitude r of a sample and leave its phase. The saturation amplitude is

    A = rms 10^(backoff_db / 20)

with rms the root of the client's budgeted mean sample power: hardware does not know how loud
today's update is. They work at the grid's own rate, so distortion beyond its band folds back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from phy.checks import assign, integer, number
from phy.grid import OfdmGrid
from phy.impairments.burst import Burst
from phy.waveform import demodulate, empty_bins, from_bins, in_bins, modulate


def saturation(rms: NDArray[np.float64], backoff_db: float) -> NDArray[np.float32]:
    """A, [num_devices, 1]; not zero where nothing arrives."""
    level = np.maximum(rms * 10 ** (backoff_db / 20), np.finfo(np.float32).tiny)
    return level.astype(np.float32)[:, None]


def note_clipping(amplitude: NDArray[np.float32], level: NDArray[np.float32], burst: Burst) -> None:
    """The round says how often a sample went beyond saturation."""
    rate = np.mean(amplitude > level, axis=-1)
    burst.notes["clip_rate"] = np.maximum(burst.notes.get("clip_rate", 0.0), rate)


@dataclass(frozen=True)
class SoftLimiter:
    """An ideal, predistorted amplifier: linear up to A, and then constant: min(r, A).

    backoff_db : saturation power over the budgeted mean power [dB]
    """

    backoff_db: float = 8.0

    def __post_init__(self) -> None:
        assign(self, backoff_db=checked_backoff("SoftLimiter", self.backoff_db))

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        level = saturation(burst.rms, self.backoff_db)
        amplitude = np.abs(samples)
        note_clipping(amplitude, level, burst)
        return samples * (level / np.maximum(amplitude, level))


@dataclass(frozen=True)
class Rapp:
    """A solid-state amplifier: r / (1 + (r / A)^(2 p))^(1 / (2 p)).

    C. Rapp, "Effects of HPA-Nonlinearity on a 4-DPSK/OFDM-Signal for a Digital Sound Broadcasting
    System", 1991.

    backoff_db : saturation power over the budgeted mean power [dB]
    smoothness : p; the limiter is its limit for large p
    """

    backoff_db: float = 8.0
    smoothness: float = 2.0

    def __post_init__(self) -> None:
        assign(
            self,
            backoff_db=checked_backoff("Rapp", self.backoff_db),
            smoothness=number("Rapp.smoothness", self.smoothness, least=0.1, most=100),
        )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        level = saturation(burst.rms, self.backoff_db)
        amplitude = np.abs(samples)
        note_clipping(amplitude, level, burst)
        # of r / A and its inverse, whichever power cannot overflow
        small = np.minimum(amplitude, level) / np.maximum(amplitude, level)
        root = np.power(1 + np.power(small, 2 * self.smoothness), -0.5 / self.smoothness)
        return samples * (root * (level / np.maximum(amplitude, level)))


@dataclass(frozen=True)
class ClipAndFilter:
    """Clipping on purpose, in digital baseband, of the oversampled symbol; then what falls outside
    the used carriers is taken away, which lets the peaks grow again a little.

    J. Armstrong, "Peak-to-average power reduction for OFDM by repeated clipping and frequency
    domain filtering", Electronics Letters 38(5), 2002. It comes before all faults of ``transmit``.

    backoff_db : clipping power over the budgeted mean power [dB]
    passes : how often it is done
    oversampling : of the symbol that is clipped
    """

    backoff_db: float = 8.0
    passes: int = 1
    oversampling: int = 4

    def __post_init__(self) -> None:
        assign(
            self,
            backoff_db=checked_backoff("ClipAndFilter", self.backoff_db),
            passes=integer("ClipAndFilter.passes", self.passes, least=1),
            oversampling=integer("ClipAndFilter.oversampling", self.oversampling, least=1),
        )
        if max(self.passes, self.oversampling) > 100:
            raise ValueError(
                f"ClipAndFilter(passes={self.passes}, oversampling={self.oversampling}) is not "
                "allowed: give at most 100 of each"
            )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        grid, elements = burst.grid, demodulate(burst.grid, samples, 0, burst.num_symbols)
        level = saturation(burst.rms, self.backoff_db)
        note_clipping(np.abs(self._fine(grid, elements)).reshape(len(level), -1), level, burst)
        return modulate(grid, self.clipped(grid, elements, burst.rms))

    def clipped(
        self, grid: OfdmGrid, elements: NDArray[np.complex64], rms: NDArray[np.float64]
    ) -> NDArray[np.complex64]:
        """``[num_devices, num_symbols, used carriers]`` as they leave."""
        level = saturation(rms, self.backoff_db)[..., None]
        for _ in range(self.passes):
            fine = self._fine(grid, elements)
            fine *= level / np.maximum(np.abs(fine), level)
            spectrum = fft.fft(fine, norm="ortho", overwrite_x=True)
            elements = from_bins(grid, spectrum) / np.float32(self.oversampling**0.5)
        return elements

    def _fine(self, grid: OfdmGrid, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """The oversampled symbols, with the amplitude of their samples."""
        bins = in_bins(grid, elements, empty_bins(elements, grid.fft_size * self.oversampling))
        fine = fft.ifft(bins, norm="ortho", overwrite_x=True)
        return fine * np.float32(self.oversampling**0.5)


def checked_backoff(owner: str, value: float) -> float:
    return number(f"{owner}.backoff_db", value, least=-60, most=100)
