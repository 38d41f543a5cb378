"""The same medium through Sionna's own blocks: the reference for :mod:`phy.fused_medium`.

The clients' precoded symbols go through Sionna's ResourceGridMapper, cir_to_ofdm_channel,
ApplyOFDMChannel and ResourceGridDemapper, slot by slot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from otafl._base import lazy
from otafl._base.arrays import ComplexArray, FloatArray
from phy.channel import Channel
from phy.packing import Packing
from phy.power import Precoding


class SionnaMedium:
    """Drop-in replacement for :class:`phy.fused_medium.FusedMedium`.

    Parameters
    ----------
    packing : Packing
        Where the entries of a vector lie on the grid.
    precoding : Precoding
        What clients do on each carrier.
    channel : Channel
        The channels of the block.
    path_gain : ndarray of float, shape [num_clients]
        Mean power of each channel.
    """

    def __init__(
        self, packing: Packing, precoding: Precoding, channel: Channel, path_gain: FloatArray
    ) -> None:
        lazy.sionna()
        from sionna.phy.channel import ApplyOFDMChannel, subcarrier_frequencies
        from sionna.phy.mimo import StreamManagement
        from sionna.phy.ofdm import ResourceGrid, ResourceGridDemapper, ResourceGridMapper

        self.packing, self.precoding, self.channel = packing, precoding, channel
        self.path_gain = path_gain
        grid = packing.grid

        def resource_grid(num_tx: int) -> ResourceGrid:
            return ResourceGrid(
                num_ofdm_symbols=grid.symbols_per_slot,
                fft_size=grid.fft_size,
                subcarrier_spacing=grid.subcarrier_spacing,
                num_tx=num_tx,
                cyclic_prefix_length=grid.cp_length,
                num_guard_carriers=grid.guards,
                dc_null=grid.dc_null,
            )

        self._map = ResourceGridMapper(resource_grid(len(path_gain)), precision="single")
        one_stream = StreamManagement(np.array([[1]]), 1)
        self._demap = ResourceGridDemapper(resource_grid(1), one_stream, precision="single")
        self._apply = ApplyOFDMChannel(precision="single")
        self._frequencies = subcarrier_frequencies(
            grid.fft_size, grid.subcarrier_spacing, precision="single"
        )

    def energy(self, signals: NDArray) -> FloatArray:
        """Return what each client spends at unit gain, [num_clients, num_symbols]."""
        return np.square(np.abs(self._transmitted(signals)), dtype=np.float64).sum(axis=-1)

    def superpose(self, signals: NDArray) -> tuple[ComplexArray, FloatArray]:
        """Return what arrives at unit gain, [num_symbols, num_carriers], and what it costs."""
        sent = self._transmitted(signals)
        num_clients, num_symbols, _ = sent.shape
        length = self.packing.grid.symbols_per_slot
        num_slots = -(-num_symbols // length)
        is_data = ~self.packing.grid.is_pilot
        blocks = np.zeros((num_clients, num_slots * length, len(is_data)), np.complex64)
        blocks[:, :num_symbols, is_data] = sent
        blocks = blocks.reshape(num_clients, num_slots, -1)
        received = np.concatenate([self._slot(s, blocks[:, s]) for s in range(num_slots)])
        scale = self.packing.per_symbol(self.precoding.scale)
        return received[:num_symbols] / scale, np.square(np.abs(sent), dtype=np.float64).sum(-1)

    def _transmitted(self, signals: NDArray) -> ComplexArray:
        """Return the precoded symbols, [num_clients, num_symbols, num_carriers]."""
        amplitude = self.precoding.amplitude(self.channel.estimate)
        return self.packing.pack(signals) * self.packing.per_symbol(amplitude)

    def _slot(self, slot: int, data: NDArray) -> ComplexArray:
        """Return what arrives of ``data [num_clients, elements per slot]``, [symbols, carriers]."""
        from sionna.phy.channel import cir_to_ofdm_channel

        tf = lazy.tensorflow()
        taps = self.channel.taps
        gains = taps.gains[:, min(slot, taps.gains.shape[1] - 1)]
        gains = gains * np.sqrt(self.path_gain)[:, None]
        delays = np.broadcast_to(taps.delays, gains.shape)
        # [batch, num_rx, num_rx_ant, num_tx, num_tx_ant, num_paths, num_time_steps]
        a = tf.constant(gains[None, None, None, :, None, :, None], tf.complex64)
        tau = tf.constant(delays[None, None], tf.float32)
        response = cir_to_ofdm_channel(self._frequencies, a, tau)
        mapped = self._map(tf.constant(data[None, :, None], tf.complex64))
        arrived = self._apply(mapped, response)
        elements = self._demap(arrived[..., None])
        is_data = ~self.packing.grid.is_pilot
        return np.compress(is_data, np.asarray(elements).reshape(-1, len(is_data)), axis=1)
