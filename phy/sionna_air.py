"""The same air through Sionna's own blocks: the reference for :mod:`phy.air`."""

from __future__ import annotations

import numpy as np

from otafl._base import lazy
from otafl._base.arrays import ComplexArray, FloatArray
from phy.convolution import Pieces, between_knots
from phy.grid import OfdmGrid
from phy.time_channel import TimeChannel
from phy.waveform import empty_bins, from_bins, to_bins


class SionnaAir:
    """Drop-in replacement for :class:`phy.air.FastAir`.

    It consists of OFDMModulator, ApplyTimeChannel and OFDMDemodulator. The taps are those of
    :class:`~phy.time_channel.TimeChannel`: Sionna's cir_to_time_channel cuts a plain sinc off,
    whose ripple is several per cent of power. A moving channel has its taps at every sample, from
    the same knots.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    amplitude : ndarray of float, shape [num_clients]
        Amplitude of the channels, the root of the path gain.
    """

    def __init__(self, grid: OfdmGrid, amplitude: FloatArray) -> None:
        lazy.sionna()
        from sionna.phy.ofdm import OFDMModulator

        self.grid, self.amplitude = grid, amplitude.astype(np.float32)
        self._modulator = OFDMModulator(grid.cp_length, precision="single")

    def shortcut(self, elements: ComplexArray, channel: TimeChannel, window_advance: int) -> None:
        """Return None: Sionna has no shortcut."""

    def modulate(self, elements: ComplexArray) -> ComplexArray:
        """Return the samples of ``[m, num_symbols, used carriers]``, shape [m, samples]."""
        bins = np.fft.fftshift(
            to_bins(self.grid, elements, empty_bins(elements, self.grid.fft_size)), axes=-1
        )
        return np.asarray(self._modulator(lazy.tensorflow().constant(bins)))

    def propagate(
        self, samples: ComplexArray, channel: TimeChannel, slot: int, *, add: bool = True
    ) -> ComplexArray:
        """Return what arrives of ``samples [m, n]``; see :meth:`phy.air.FastAir.propagate`."""
        # one client at a time: the tensor of taps and samples is large
        taps = channel.taps(slot, self.grid)
        arrived = np.stack(
            [
                self._through(x, each[None] * amplitude)
                for x, each, amplitude in zip(samples, taps, self.amplitude, strict=True)
            ]
        )
        return arrived.sum(axis=0) if add else arrived

    def _through(self, samples: ComplexArray, taps: ComplexArray) -> ComplexArray:
        """Return what arrives of one client, whose taps are [1, knots, num_taps]."""
        from sionna.phy.channel import ApplyTimeChannel

        tf = lazy.tensorflow()
        num_taps = taps.shape[2]
        outputs = np.arange(len(samples) + num_taps - 1, dtype=np.float64)
        if taps.shape[1] > 1:
            pieces = Pieces(self.grid, len(samples), num_taps, moving=True)
            taps = between_knots(taps, outputs, pieces.knot_spacing)
        # [batch, num_rx, num_rx_ant, num_tx, num_tx_ant, num_time_steps, l_tot]
        each = np.broadcast_to(taps[0], (len(outputs), num_taps))[None, None, None, None, None]
        apply = ApplyTimeChannel(len(samples), num_taps, precision="single")
        return np.asarray(apply(tf.constant(samples[None, None, None]), tf.constant(each)))[0, 0, 0]

    def demodulate(self, samples: ComplexArray, first: int, num_symbols: int) -> ComplexArray:
        """Return the elements of samples that begin at time ``first``."""
        from sionna.phy.ofdm import OFDMDemodulator

        length = num_symbols * self.grid.symbol_length
        demodulator = OFDMDemodulator(
            self.grid.fft_size, first, self.grid.cp_length, precision="single"
        )
        bins = demodulator(lazy.tensorflow().constant(samples[..., :length]))
        return from_bins(self.grid, np.fft.ifftshift(np.asarray(bins), axes=-1))
