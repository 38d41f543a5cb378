"""From resource elements to samples, through the air, and back: by pocketfft."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phy.convolution import Pieces, convolve
from phy.grid import OfdmGrid
from phy.time_channel import TimeChannel
from phy.waveform import demodulate, modulate


class FastAir:
    """All clients' way to the server's antenna.

    amplitude : [num_clients], of the channels, the root of the path gain
    """

    def __init__(self, grid: OfdmGrid, amplitude: NDArray[np.float64]) -> None:
        self.grid, self.amplitude = grid, amplitude.astype(np.float32)

    def modulate(self, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """``[m, num_symbols, used carriers]`` to ``[m, samples]``."""
        return modulate(self.grid, elements)

    def propagate(
        self, samples: NDArray[np.complex64], channel: TimeChannel, burst: int, *, add: bool = True
    ) -> NDArray[np.complex64]:
        """``[m, n]`` to the sum of what arrives, ``[n + taps - 1]``, from the first lag on.

        add : or else what arrives of each client, [m, n + taps - 1]
        """
        pieces = Pieces(self.grid, samples.shape[1], channel.lags.count)
        spectra = channel.spectra(burst, self.grid, pieces)
        if (self.amplitude != 1).any():
            spectra = spectra * self.amplitude[:, None, None]
        return convolve(samples, spectra, pieces, add=add)

    def demodulate(
        self, samples: NDArray[np.complex64], first: int, num_symbols: int
    ) -> NDArray[np.complex64]:
        """``[..., n]``, which begin at time ``first``, to ``[..., num_symbols, used carriers]``."""
        return demodulate(self.grid, samples, first, num_symbols)
