"""The frequency-domain OFDM uplink: every client's vector on the same carriers at the same time.

A cyclic prefix no shorter than the channel turns multipath into one complex factor a carrier.
Movement within a slot is not modelled, and so no interference between carriers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from links.gridded import GridLink, GridSlot
from links.opening import BaseLink, Opening
from links.radio import received_snr_db
from links.slot import squared_norm
from phy.channel import Channel, refuse_longer_than_prefix
from phy.grid import OfdmGrid
from phy.packing import Packing
from phy.randomness import complex_normal
from phy.sionna_uplink import SionnaUplink
from phy.uplink import FusedUplink


@dataclass(frozen=True, kw_only=True)
class OfdmLink(GridLink, BaseLink["OfdmSlot"]):
    """Over-the-air sums through OFDM.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    fading, csi, truncation, correction, control : see :class:`links.faded.FadedLink`
    grid, budget, engine, interleaver_seed : see :class:`links.gridded.GridLink`

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> signals = rng.standard_normal((3, 100))
    >>> slot = OfdmLink(entry_snr_db=30).open(num_clients=3, length=100, rng=rng)
    >>> reception = slot.send(signals, slot.max_gain(signals))
    >>> reception.total.shape, reception.energy.shape
    ((100,), (3, 1))
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    @property
    def channel_grid(self) -> OfdmGrid:
        return self.grid

    def _open(self, opening: Opening) -> OfdmSlot:
        packing = self.packing(opening)
        channels = self.draw_channels(opening, packing.num_slots)
        return OfdmSlot(self, opening, packing, channels)


class OfdmSlot(GridSlot):
    """One block of OFDM symbols.

    To be looked at: ``packing``, and of each trial ``channels`` and ``precodings``. It has working
    memory of its own: one thread a slot.
    """

    def __init__(
        self, link: OfdmLink, opening: Opening, packing: Packing, channels: list[Channel]
    ) -> None:
        super().__init__(link, opening, packing, channels)
        self.link, self.channels = link, channels
        self._uplink: FusedUplink | SionnaUplink
        if link.engine == "sionna":
            path_gain = link.path_gains(opening)
            self._uplink = SionnaUplink(packing, self.precodings, channels, path_gain)
        else:
            self._uplink = FusedUplink(packing, self.precodings)

    def superposition(self, signals: ArrayLike) -> NDArray[np.complex64]:
        """What arrives without noise on every resource element, gain and server's scale removed.

        ``[..., m, d]`` to ``[..., num_symbols, num_carriers]``.
        """
        waves, _, scales = self._moderated(self._superpose, self._checked_signals(signals))
        scaled = [wave * np.float32(scale) for wave, scale in zip(waves, scales, strict=True)]
        return self._opening.outward(np.array(scaled))

    def _energy(self, trial: int, signals: NDArray) -> NDArray:
        return self._uplink.energy(trial, signals)

    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray]:
        return self._uplink.superpose(trial, signals)

    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, float]]:
        opening, packing, noise_std = self._opening, self.packing, self._noise_std[trial]
        scale = None
        if self.link.control == "mmse":
            scale = packing.per_symbol(self.precodings[trial].scale)
        at_antenna = arrived if scale is None else arrived * scale
        signal = squared_norm(at_antenna.view(np.float32).reshape(-1))
        measured = received_snr_db(signal, gain, opening.length * noise_std**2)

        if noise_std > 0 and np.isfinite(gain):
            # N0 = 2 sigma_c^2
            std = math.sqrt(2) * noise_std / gain
            received = complex_normal(opening.rngs[trial], arrived.shape, std)
            if scale is not None:
                received /= scale
            received += arrived
        else:
            received = arrived
        active = self.precodings[trial].active
        factor = self.link.make_up(active, weights, self._chance)
        if factor is not None:
            received = received * packing.per_symbol(factor)
        return packing.unpack(received), {"received_snr_db": measured}
