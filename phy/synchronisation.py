r"""How clients find their offsets: estimators that run on preambles with noise in them.

The server broadcasts the preamble for the carrier with the model, and a client's preamble for its
timing is sent ahead of the block; neither is counted as airtime of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from phy.checks import assign, number
from phy.csi import qpsk_pilots
from phy.grid import OfdmGrid
from phy.phasors import phasors
from phy.randomness import complex_normal
from phy.waveform import empty_bins, in_bins

SHORT_PARTS = 8  # equal parts of the coarse preamble, which set its range
FINER = 8  # of a sample, to which a time of arrival is found


@dataclass(frozen=True)
class CarrierSync:
    r"""Coarse and fine correction of a carrier offset, from repeated preambles, in every slot.

    One symbol of eight equal parts tells offsets up to 3.5 spacings roughly, then a symbol sent
    twice tells what is left: eps^ = angle(sum_n r*[n] r[n + D]) N / (2 pi D), with D a part or a
    symbol (P. H. Moose, "A technique for orthogonal frequency division multiplexing frequency
    offset correction", IEEE Trans. Commun. 42(10), 1994). At high SNR the error left over has the
    variance 1 / (4 pi^2 n snr), n the used carriers.

    snr_db : preamble energy over noise per resource element, at unit channel gain [dB]
    """

    snr_db: float = 20.0
    largest_offset = 3.5  # spacings; the coarse preamble is ambiguous at 4

    def __post_init__(self) -> None:
        assign(self, snr_db=number("CarrierSync.snr_db", self.snr_db, least=-200, infinite=True))

    def check(self, grid: OfdmGrid) -> None:
        """Refuse a grid that has no room for the preamble."""
        if grid.fft_size % SHORT_PARTS or not self._comb(grid).any():
            raise ValueError(
                f"CarrierSync does not fit a grid with fft_size = {grid.fft_size} and "
                f"{len(grid.used_carriers)} used carriers: give an fft_size divisible by "
                f"{SHORT_PARTS} and a used carrier among every {SHORT_PARTS}th"
            )

    def _comb(self, grid: OfdmGrid) -> NDArray[np.bool_]:
        return grid.used_carriers % SHORT_PARTS == 0

    def estimate(
        self,
        offset: NDArray[np.float64],
        grid: OfdmGrid,
        response: NDArray[np.complex64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """What each client believes its ``offset [num_clients]`` to be, in spacings.

        response : [num_clients, used carriers]
        """
        size = grid.fft_size
        symbol = qpsk_pilots(1, response.shape[1]) * response
        comb = self._comb(grid)
        # the same energy on fewer carriers
        short = symbol * np.where(comb, np.sqrt(len(comb) / comb.sum()), 0).astype(np.float32)
        received = [
            fft.ifft(in_bins(grid, elements, empty_bins(elements, size)), norm="ortho")
            for elements in (short, symbol, symbol)
        ]
        turns = np.multiply.outer(offset / size, np.arange(3 * size))
        samples = np.concatenate(received, axis=1) * phasors(turns)
        noise_std = 10 ** (-self.snr_db / 20)
        samples += complex_normal(rng, samples.shape, noise_std)

        coarse = self._turned(samples[:, :size], size // SHORT_PARTS) * SHORT_PARTS
        held = np.multiply.outer(-coarse / size, np.arange(2 * size))
        fine = self._turned(samples[:, size:] * phasors(held), size)
        return coarse + fine

    @staticmethod
    def _turned(samples: NDArray[np.complex64], lag: int) -> NDArray[np.float64]:
        """Turns over ``lag`` samples of a signal with that period."""
        products = (samples[:, :-lag].conj() * samples[:, lag:]).sum(axis=1)
        return np.angle(products).astype(np.float64) / (2 * np.pi)


@dataclass(frozen=True)
class TimingAdvance:
    """The server finds when each client's preamble arrives and tells it how much earlier to send.

    It looks for the delay at which the preamble fits best to the channel that the client knows of,
    so what is told is the offset and not the channel's own delay, in every slot.

    resolution : of what is told [samples]
    snr_db : preamble energy over noise per resource element, at unit channel gain [dB]
    """

    resolution: float = 1.0
    snr_db: float = 20.0

    def __post_init__(self) -> None:
        assign(
            self,
            resolution=number("TimingAdvance.resolution", self.resolution, above=0),
            snr_db=number("TimingAdvance.snr_db", self.snr_db, least=-200, infinite=True),
        )

    def command(
        self,
        offset: NDArray[np.float64],
        grid: OfdmGrid,
        response: NDArray[np.complex64],
        estimate: NDArray[np.complex64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """What each client is told, for its ``offset [num_clients]`` [samples].

        response, estimate : [num_clients, used carriers]
        """
        pilots = qpsk_pilots(1, response.shape[1])
        ramps = phasors(np.multiply.outer(-offset / grid.fft_size, grid.used_carriers))
        noise = complex_normal(rng, response.shape, 10 ** (-self.snr_db / 20))
        arrived = response * ramps * pilots + noise
        fit = arrived * (estimate * pilots).conj()
        profile = np.abs(fft.ifft(in_bins(grid, fit, empty_bins(fit, FINER * grid.fft_size))))
        places = np.argmax(profile, axis=1)
        found = (places + profile.shape[1] // 2) % profile.shape[1] - profile.shape[1] // 2
        return self.resolution * np.rint(found / (FINER * self.resolution))
