"""The fading extension of the same paper (end of section V): one known complex gain a client and
round, undone at the transmitter.

    z_i = beta alpha_i Delta_i / (tau_i h_i),   ||z_i||^2 <= P_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.faded import FadedLink
from links.flat import FlatPrecoding, FlatSlot
from links.gaussian import BANDWIDTH, channel_uses
from links.opening import BaseLink, Opening
from phy.checks import assign, number
from phy.grid import OfdmGrid


@dataclass(frozen=True, kw_only=True)
class FadingLink(FadedLink, BaseLink["FadingSlot"]):
    """One complex gain a client and round; a frequency-selective fading is taken at its centre.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    fading, csi, truncation, correction, control : see :class:`links.faded.FadedLink`
    bandwidth : complex channel uses a second, each of two entries; for the airtime only [Hz]
    """

    bandwidth: float = BANDWIDTH

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(self, bandwidth=number("bandwidth", self.bandwidth, above=0))

    @property
    def channel_grid(self) -> OfdmGrid:
        """The one carrier that pilots and fading see."""
        return OfdmGrid(
            fft_size=1,
            cp_length=0,
            guards=(0, 0),
            dc_null=False,
            subcarrier_spacing=self.bandwidth,
            # a slot as long as the default grid's: links look at a moving channel at one instant
            symbols_per_slot=max(1, round(OfdmGrid().slot_duration * self.bandwidth)),
        )

    def _open(self, opening: Opening) -> FadingSlot:
        return FadingSlot(self, opening)


class FadingSlot(FlatSlot):
    """One round. ``channels``, of each trial, are there to be looked at."""

    def __init__(self, link: FadingLink, opening: Opening) -> None:
        self.link = link
        self.channels = link.draw_channels(opening, num_slots=1)
        self._chance = link.expected_active(opening)
        noise = link.noise_of(opening)
        each = link.precodings(opening, self.channels, noise)
        precoding = FlatPrecoding(
            cost=np.array([one.cost[:, 0, 0] for one in each]),
            weight=np.array([one.weight[:, 0, 0] for one in each]),
            scale=np.array([one.scale[0, 0] for one in each]),
            active=np.array([one.active[:, 0, 0] for one in each]),
        )
        report = channel_uses(link.bandwidth, opening, link.csi.pilots_per_slot)
        super().__init__(opening, link.powers(opening), precoding, noise, report)

    def _made_up(self, trial: int, received: NDArray, weights: NDArray[np.float64]) -> NDArray:
        active = self.precoding.active[trial, :, None, None]
        factor = self.link.make_up(active, weights, self._chance)
        return received if factor is None else received * factor[0, 0]
