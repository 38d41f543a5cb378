"""The same uplink through Sionna's own blocks: the reference for :mod:`phy.uplink`.

The clients' precoded symbols go through Sionna's ResourceGridMapper, cir_to_ofdm_channel,
ApplyOFDMChannel and ResourceGridDemapper, slot by slot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phy import quiet
from phy.channel import Channel
from phy.packing import Packing
from phy.power import Precoding


class SionnaUplink:
    """Drop-in for :class:`phy.uplink.FusedUplink`."""

    def __init__(
        self,
        packing: Packing,
        precodings: Sequence[Precoding],
        channels: Sequence[Channel],
        path_gain: NDArray[np.float64],
    ) -> None:
        quiet.sionna()
        from sionna.phy.channel import ApplyOFDMChannel, subcarrier_frequencies
        from sionna.phy.mimo import StreamManagement
        from sionna.phy.ofdm import ResourceGrid, ResourceGridDemapper, ResourceGridMapper

        self.packing, self.precodings, self.channels = packing, precodings, channels
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

    def energy(self, trial: int, signals: NDArray) -> NDArray[np.float64]:
        return np.square(np.abs(self._transmitted(trial, signals)), dtype=np.float64).sum(axis=-1)

    def superpose(
        self, trial: int, signals: NDArray
    ) -> tuple[NDArray[np.complex64], NDArray[np.float64]]:
        sent = self._transmitted(trial, signals)
        num_clients, num_symbols, _ = sent.shape
        length = self.packing.grid.symbols_per_slot
        num_slots = -(-num_symbols // length)
        is_data = ~self.packing.grid.is_pilot
        blocks = np.zeros((num_clients, num_slots * length, len(is_data)), np.complex64)
        blocks[:, :num_symbols, is_data] = sent
        blocks = blocks.reshape(num_clients, num_slots, -1)
        received = np.concatenate([self._slot(trial, s, blocks[:, s]) for s in range(num_slots)])
        scale = self.packing.per_symbol(self.precodings[trial].scale)
        return received[:num_symbols] / scale, np.square(np.abs(sent), dtype=np.float64).sum(-1)

    def _transmitted(self, trial: int, signals: NDArray) -> NDArray[np.complex64]:
        """[num_clients, num_symbols, num_carriers], precoded."""
        amplitude = self.precodings[trial].amplitude(self.channels[trial])
        return self.packing.pack(signals) * self.packing.per_symbol(amplitude)

    def _slot(self, trial: int, slot: int, data: NDArray) -> NDArray[np.complex64]:
        """``data [num_clients, elements of a slot]`` to what arrives, [symbols, carriers]."""
        from sionna.phy.channel import cir_to_ofdm_channel

        tf = quiet.tensorflow()
        taps = self.channels[trial].taps
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
