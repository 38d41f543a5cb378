"""From resource elements to samples, through the air, and back: by pocketfft."""

from __future__ import annotations

import numpy as np
from scipy import fft

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray
from otafl._base.buffers import buffer
from phy.convolution import Pieces, convolve
from phy.grid import OfdmGrid
from phy.time_channel import TimeChannel
from phy.waveform import demodulate, modulate, shift_phases, squared_magnitude, to_bins


class FastAir:
    """Propagation from all clients to the server.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    amplitude : ndarray of float, shape [num_clients]
        Amplitude of the channels, the root of the path gain.
    """

    def __init__(self, grid: OfdmGrid, amplitude: FloatArray) -> None:
        self.grid, self.amplitude = grid, amplitude.astype(np.float32)

    def shortcut(
        self, elements: ComplexArray, channel: TimeChannel, window_advance: int
    ) -> tuple[ComplexArray, Float32Array] | None:
        """Return what arrives of symbols that meet no impairment, and the power sent.

        If the channel is static and ends within the prefix, convolution is cyclic on all that the
        server's FFTs take in: there the sum of response x elements arrives. Samples
        outside the FFT windows are never used and are not physically correct.

        Returns
        -------
        received : ndarray of complex64, shape [samples]
        power : ndarray of float32, shape [m, num_symbols, fft_size]
            Power of the samples sent, without prefix.

        None where there is no shortcut.
        """
        grid, lags = self.grid, channel.lags
        fits = lags.num_taps - 1 <= grid.cp_length - window_advance
        if channel.moving or not fits:
            return None
        bins = buffer("bins", (*elements.shape[:2], grid.fft_size))
        sent = fft.ifft(to_bins(grid, elements, bins), norm="ortho", overwrite_x=True)
        power = squared_magnitude(sent)
        product = buffer("product", elements.shape)
        response = channel.response * (
            self.amplitude[:, None, None] * shift_phases(grid, -lags.first)
        )
        np.multiply(elements, response, out=product)
        received = np.zeros(
            elements.shape[1] * grid.symbol_length + lags.num_taps - 1, np.complex64
        )
        received[: len(received) - lags.num_taps + 1] = modulate(grid, product.sum(axis=0))
        return received, power

    def modulate(self, elements: ComplexArray) -> ComplexArray:
        """Return the samples of ``[m, num_symbols, used carriers]``, shape [m, samples]."""
        return modulate(self.grid, elements)

    def propagate(
        self, samples: ComplexArray, channel: TimeChannel, slot: int, *, add: bool = True
    ) -> ComplexArray:
        """Return what arrives of ``samples [m, n]``, from the first lag on.

        Parameters
        ----------
        samples : ndarray of complex64, shape [m, n]
            What each client sends in a slot.
        channel : TimeChannel
            The clients' channels.
        slot : int
            Which slot of the block.
        add : bool
            Whether to add the clients up.

        Returns
        -------
        ndarray of complex64, shape [n + taps - 1], or [m, n + taps - 1] without ``add``
        """
        pieces = Pieces(self.grid, samples.shape[1], channel.lags.num_taps, channel.moving)
        spectra = channel.spectra(slot, self.grid, pieces.fft_size)
        return convolve(samples, spectra * self.amplitude[:, None, None], pieces, add=add)

    def demodulate(self, samples: ComplexArray, first: int, num_symbols: int) -> ComplexArray:
        """Return the elements of samples that begin at time ``first``."""
        return demodulate(self.grid, samples, first, num_symbols)
