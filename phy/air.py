"""From resource elements to samples, through the air, and back: by pocketfft."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from phy.convolution import Pieces, convolve
from phy.grid import OfdmGrid
from phy.scratch import scratch
from phy.time_channel import TimeChannel
from phy.waveform import demodulate, in_bins, modulate, power_of, shift_phases, symbol_length


class FastAir:
    """All clients' way to the server's antenna.

    amplitude : [num_clients], of the channels, the root of the path gain
    """

    def __init__(self, grid: OfdmGrid, amplitude: NDArray[np.float64]) -> None:
        self.grid, self.amplitude = grid, amplitude.astype(np.float32)

    def clean(
        self, elements: NDArray[np.complex64], channel: TimeChannel, window_advance: int
    ) -> tuple[NDArray[np.complex64], NDArray[np.float32]] | None:
        """The short way for symbols that meet no fault: what arrives, and the power sent.

        If the channel is static and ends within the prefix, convolution is cyclic on all that the
        server's FFTs take in: there the sum of response x elements arrives. The samples before each
        FFT, which nobody looks at, are not those that would really arrive. Else there is no short
        way, and None is returned.

        power : [m, num_symbols, fft_size], without prefix
        """
        grid, lags = self.grid, channel.lags
        fits = lags.num_taps - 1 <= grid.cp_length - window_advance
        if channel.gains[0].shape[1] > 1 or not fits:
            return None
        bins = scratch("bins", (*elements.shape[:2], grid.fft_size))
        sent = fft.ifft(in_bins(grid, elements, bins), norm="ortho", overwrite_x=True)
        power = power_of(sent)
        product = scratch("product", elements.shape)
        response = channel.response * (
            self.amplitude[:, None, None] * shift_phases(grid, -lags.first)
        )
        np.multiply(elements, response, out=product)
        heard = np.zeros(elements.shape[1] * symbol_length(grid) + lags.num_taps - 1, np.complex64)
        heard[: len(heard) - lags.num_taps + 1] = modulate(grid, product.sum(axis=0))
        return heard, power

    def modulate(self, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """``[m, num_symbols, used carriers]`` to ``[m, samples]``."""
        return modulate(self.grid, elements)

    def propagate(
        self, samples: NDArray[np.complex64], channel: TimeChannel, burst: int, *, add: bool = True
    ) -> NDArray[np.complex64]:
        """``[m, n]`` to the sum of what arrives, ``[n + taps - 1]``, from the first lag on.

        add : or else what arrives of each client, [m, n + taps - 1]
        """
        moving = channel.gains[burst].shape[1] > 1
        pieces = Pieces(self.grid, samples.shape[1], channel.lags.num_taps, moving)
        spectra = channel.spectra(burst, self.grid, pieces.fft_size)
        return convolve(samples, spectra * self.amplitude[:, None, None], pieces, add=add)

    def demodulate(
        self, samples: NDArray[np.complex64], first: int, num_symbols: int
    ) -> NDArray[np.complex64]:
        """``[..., n]``, which begin at time ``first``, to ``[..., num_symbols, used carriers]``."""
        return demodulate(self.grid, samples, first, num_symbols)
