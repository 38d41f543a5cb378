r"""How clients find their offsets: estimators that run on noisy preambles.

The server broadcasts the preamble for the carrier with the model, and a client's preamble for its
timing is sent ahead of the block; neither is counted as airtime of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

from otafl._base.arrays import BoolArray, ComplexArray, FloatArray, Rng
from otafl._base.decibels import amplitude_from_db
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, number
from phy.csi import qpsk_pilots
from phy.grid import OfdmGrid
from phy.phasors import phasors
from phy.randomness import complex_normal
from phy.waveform import empty_bins, to_bins

SHORT_PARTS = 8  # equal parts of the coarse preamble, which set its range
FINER = 8  # of a sample, to which a time of arrival is found


@options
@dataclass(frozen=True)
class CarrierSync:
    r"""Coarse and fine correction of a carrier offset, from repeated preambles, in every slot.

    One symbol of eight equal parts gives a rough estimate of offsets up to 3.5 spacings; a symbol
    sent twice then gives the remaining offset.

    Parameters
    ----------
    snr_db : float
        Preamble energy over noise per resource element, at unit channel gain [dB].

    Notes
    -----
    eps^ = angle(sum_n r*[n] r[n + D]) N / (2 pi D), with D a part or a symbol (P. H. Moose, "A
    technique for orthogonal frequency division multiplexing frequency offset correction", IEEE
    Trans. Commun. 42(10), 1994). At high SNR the remaining error has variance
    1 / (4 pi^2 n snr), n the used carriers.
    """

    snr_db: float = 20.0
    largest_offset = 3.5  # spacings; the coarse preamble is ambiguous at 4

    def __post_init__(self) -> None:
        assign(self, snr_db=number("CarrierSync.snr_db", self.snr_db, least=-200, infinite=True))

    def check(self, grid: OfdmGrid) -> None:
        """Refuse a grid that has no room for the preamble."""
        if grid.fft_size % SHORT_PARTS or not self._comb(grid).any():
            raise OptionError(
                "CarrierSync's grid",
                f"one whose fft_size is divisible by {SHORT_PARTS}, with a used carrier among "
                f"every {SHORT_PARTS}th",
                got=f"fft_size = {grid.fft_size} and {len(grid.used_carriers)} used carriers",
            )

    def _comb(self, grid: OfdmGrid) -> BoolArray:
        return grid.used_carriers % SHORT_PARTS == 0

    def estimate(
        self, offset: FloatArray, grid: OfdmGrid, response: ComplexArray, rng: Rng
    ) -> FloatArray:
        """Return the clients' estimates of their ``offset [num_clients]``, in spacings.

        Parameters
        ----------
        offset : ndarray of float, shape [num_clients]
            The true offsets [spacings].
        grid : OfdmGrid
            Numerology.
        response : ndarray of complex64, shape [num_clients, used carriers]
            The channels that the preamble passes.
        rng : numpy.random.Generator
            Source of the noise.
        """
        size = grid.fft_size
        symbol = qpsk_pilots(1, response.shape[1]) * response
        comb = self._comb(grid)
        # the same energy on fewer carriers
        short = symbol * np.where(comb, np.sqrt(len(comb) / comb.sum()), 0).astype(np.float32)
        received = [
            fft.ifft(to_bins(grid, elements, empty_bins(elements, size)), norm="ortho")
            for elements in (short, symbol, symbol)
        ]
        turns = np.multiply.outer(offset / size, np.arange(3 * size))
        samples = np.concatenate(received, axis=1) * phasors(turns)
        noise_std = amplitude_from_db(-self.snr_db)
        samples += complex_normal(rng, samples.shape, noise_std)

        coarse = self._turned(samples[:, :size], size // SHORT_PARTS) * SHORT_PARTS
        held = np.multiply.outer(-coarse / size, np.arange(2 * size))
        fine = self._turned(samples[:, size:] * phasors(held), size)
        return coarse + fine

    @staticmethod
    def _turned(samples: ComplexArray, lag: int) -> FloatArray:
        """Return the turns over ``lag`` samples of a signal with that period."""
        products = (samples[:, :-lag].conj() * samples[:, lag:]).sum(axis=1)
        return np.angle(products).astype(np.float64) / (2 * np.pi)


@options
@dataclass(frozen=True)
class TimingAdvance:
    """The server finds when each client's preamble arrives and tells it how much earlier to send.

    In every slot it finds the delay at which the preamble best matches the client's channel
    estimate, so the command contains the timing offset but not the delay of the channel itself.

    Parameters
    ----------
    resolution : float
        Resolution of the command [samples].
    snr_db : float
        Preamble energy over noise per resource element, at unit channel gain [dB].
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
        offset: FloatArray,
        grid: OfdmGrid,
        response: ComplexArray,
        estimate: ComplexArray,
        rng: Rng,
    ) -> FloatArray:
        """Return the command to each client, for its ``offset [num_clients]`` [samples].

        Parameters
        ----------
        offset : ndarray of float, shape [num_clients]
            The true offsets [samples].
        grid : OfdmGrid
            Numerology.
        response, estimate : ndarray of complex64, shape [num_clients, used carriers]
            The channels, and the clients' estimates of them.
        rng : numpy.random.Generator
            Source of the noise.
        """
        pilots = qpsk_pilots(1, response.shape[1])
        ramps = phasors(np.multiply.outer(-offset / grid.fft_size, grid.used_carriers))
        noise = complex_normal(rng, response.shape, amplitude_from_db(-self.snr_db))
        arrived = response * ramps * pilots + noise
        fit = arrived * (estimate * pilots).conj()
        profile = np.abs(fft.ifft(to_bins(grid, fit, empty_bins(fit, FINER * grid.fft_size))))
        places = np.argmax(profile, axis=1)
        found = (places + profile.shape[1] // 2) % profile.shape[1] - profile.shape[1] // 2
        return self.resolution * np.rint(found / (FINER * self.resolution))
