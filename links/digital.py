"""What digital links share: the rate of each channel, and the OFDM symbols that a vector takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from links.faded import FADING
from links.radio import Noise, Participants
from otafl._base.arrays import FloatArray
from otafl._base.validation import assign, integer, number, typed
from phy.channel import Channel, draw_channel, refuse_longer_than_prefix
from phy.csi import PerfectCsi
from phy.digital import SCALE_BITS, spectral_efficiency
from phy.fading import Fading
from phy.grid import OfdmGrid

if TYPE_CHECKING:
    from links.orthogonal import OrthogonalLink
    from links.quantised_downlink import QuantisedDownlink

    DigitalLink: TypeAlias = OrthogonalLink | QuantisedDownlink


def check_digital_options(link: DigitalLink) -> None:
    """Validate the options of a digital link; call it in ``__post_init__``."""
    typed("fading", link.fading, Fading, FADING)
    typed("grid", link.grid, OfdmGrid, "an OfdmGrid")
    assign(
        link,
        bits=integer("bits", link.bits, least=1, most=32),
        gap_db=number("gap_db", link.gap_db, least=0),
        max_efficiency=number("max_efficiency", link.max_efficiency, above=0),
    )
    if link.fading.delays is not None:
        refuse_longer_than_prefix(float(np.max(link.fading.delays)), link.grid)


def draw_digital_channel(link: DigitalLink, who: Participants) -> Channel:
    """Draw the channels of a digital link, which are known perfectly."""
    return draw_channel(
        link.grid,
        link.fading,
        PerfectCsi(),
        path_gain=who.per_client("path_gain", link.path_gain),
        num_symbols=min(link.grid.num_symbols(who.length), link.grid.symbols_per_slot),
        **who.drawing,
    )


def efficiencies(
    link: DigitalLink,
    channel: Channel,
    path_gain: FloatArray,
    symbol_energy: FloatArray,
    noise: Noise,
) -> FloatArray:
    """Return the bits per resource element that each channel carries, [num_clients].

    ``symbol_energy [num_clients]`` is what each transmission takes in an OFDM symbol, the same on
    every carrier.
    """
    element_energy = (symbol_energy / link.grid.num_carriers * path_gain)[:, None]
    strength = np.square(np.abs(channel.response[:, 0]), dtype=np.float64)
    with np.errstate(divide="ignore"):
        snr = strength * element_energy / (2 * np.float64(noise.variance))
        return spectral_efficiency(snr, link.gap_db, link.max_efficiency).mean(axis=1)


def symbols_needed(link: DigitalLink, length: int, efficiency: FloatArray) -> FloatArray:
    """Return the OFDM symbols that a vector takes; inf over a channel that carries nothing."""
    payload = link.bits * length + SCALE_BITS
    with np.errstate(divide="ignore"):
        return np.ceil(payload / (link.grid.num_carriers * efficiency))
