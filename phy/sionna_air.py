"""The same air through Sionna's own blocks: the reference for :mod:`phy.air`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phy import quiet
from phy.convolution import Pieces, between_knots
from phy.grid import OfdmGrid
from phy.time_channel import TimeChannel
from phy.waveform import empty_bins, from_bins, in_bins


class SionnaAir:
    """Drop-in for :class:`phy.air.FastAir`, of OFDMModulator, cir_to_time_channel,
    ApplyTimeChannel and OFDMDemodulator.

    A moving channel has its path gains at every sample, from the same knots.
    """

    def __init__(self, grid: OfdmGrid, amplitude: NDArray[np.float64]) -> None:
        quiet.sionna()
        from sionna.phy.ofdm import OFDMModulator

        self.grid, self.amplitude = grid, amplitude.astype(np.float32)
        self._modulator = OFDMModulator(grid.cp_length, precision="single")

    def clean(
        self, elements: NDArray[np.complex64], channel: TimeChannel, window_advance: int
    ) -> None:
        """Sionna knows no short way."""

    def modulate(self, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        bins = np.fft.fftshift(
            in_bins(self.grid, elements, empty_bins(elements, self.grid.fft_size)), axes=-1
        )
        return np.asarray(self._modulator(quiet.tensorflow().constant(bins)))

    def propagate(
        self,
        samples: NDArray[np.complex64],
        channel: TimeChannel,
        burst: int,
        *,
        add: bool = True,
    ) -> NDArray[np.complex64]:
        # one client at a time: the tensors of paths, taps and samples are large
        arrived = np.stack(
            [self._through(x, channel, burst, client) for client, x in enumerate(samples)]
        )
        return arrived.sum(axis=0) if add else arrived

    def _through(
        self, samples: NDArray[np.complex64], channel: TimeChannel, burst: int, client: int
    ) -> NDArray[np.complex64]:
        from sionna.phy.channel import ApplyTimeChannel, cir_to_time_channel

        tf = quiet.tensorflow()
        lags = channel.lags
        gains = channel.gains[burst][client : client + 1] * self.amplitude[client]
        if gains.shape[1] > 1:
            pieces = Pieces(self.grid, len(samples), lags.num_taps, moving=True)
            outputs = np.arange(pieces.num_outputs, dtype=np.float64)
            gains = between_knots(gains, outputs, pieces.knot_spacing)
        delays = channel.delays if channel.delays.ndim == 1 else channel.delays[client]
        # [batch, num_rx, num_rx_ant, num_tx, num_tx_ant, num_paths, num_time_steps]
        a = tf.constant(gains[0].T[None, None, None, None, None], tf.complex64)
        tau = tf.constant(delays[None, None, None], tf.float32)
        rate = tf.constant(self.grid.sampling_rate, tf.float32)
        taps = cir_to_time_channel(rate, a, tau, lags.first, lags.last)
        apply = ApplyTimeChannel(len(samples), lags.num_taps, precision="single")
        return np.asarray(apply(tf.constant(samples[None, None, None]), taps))[0, 0, 0]

    def demodulate(
        self, samples: NDArray[np.complex64], first: int, num_symbols: int
    ) -> NDArray[np.complex64]:
        from sionna.phy.ofdm import OFDMDemodulator

        length = num_symbols * (self.grid.fft_size + self.grid.cp_length)
        demodulator = OFDMDemodulator(
            self.grid.fft_size, first, self.grid.cp_length, precision="single"
        )
        bins = demodulator(quiet.tensorflow().constant(samples[..., :length]))
        return from_bins(self.grid, np.fft.ifftshift(np.asarray(bins), axes=-1))
