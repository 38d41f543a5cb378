"""What links through fading share: options, precoding, correction, and blocks of OFDM symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from links.radio import Noise, Participants
from otafl._base.arrays import BoolArray, Float32Array, FloatArray
from otafl._base.validation import OptionError, assign, choice, integer, number, typed
from phy import power
from phy.channel import Channel
from phy.csi import CSI, Csi
from phy.fading import Fading
from phy.grid import OfdmGrid
from phy.packing import Packing
from phy.time_channel import TimeChannel

if TYPE_CHECKING:
    from links.fading import FadingLink
    from links.ofdm import OfdmLink
    from links.waveform import WaveformLink

    BlockLink: TypeAlias = OfdmLink | WaveformLink
    FadedLink: TypeAlias = FadingLink | BlockLink


FADING = "an instance of a subclass of otafl.Fading, such as Rayleigh() or Tdl('A')"
"""What the option ``fading`` of a link must be."""


def check_fading_options(link: FadedLink) -> None:
    """Validate the options of a link through fading; call it in ``__post_init__``."""
    typed("fading", link.fading, Fading, FADING)
    typed("csi", link.csi, Csi, CSI)
    assign(
        link,
        truncation=number("truncation", link.truncation, least=0),
        correction=choice("correction", link.correction, ("none", "expected", "active")),
        control=choice("control", link.control, ("inversion", "mmse")),
        variances=choice("variances", link.variances, ("equal", "reported")),
    )
    if link.correction == "expected" and link.fading.law is None:
        raise OptionError(
            "correction",
            f"'active' or 'none' with {type(link.fading).__name__}, whose distribution is not "
            "known",
            link.correction,
        )


def precode(
    link: FadedLink,
    who: Participants,
    channel: Channel | TimeChannel,
    path_gain: FloatArray,
    noise: Noise,
    variances: FloatArray | None,
) -> power.Precoding:
    """Return what clients and server do on each carrier, by ``link.control``.

    MMSE control is made for symbols of these ``variances`` [num_clients], or 1 if they are None.
    """
    if link.control == "inversion":
        return power.invert(channel.response, channel.estimate, path_gain, link.truncation)
    # the elements that carry entries share a round's power; padding takes none
    share = who.per_client("power", link.power) / -(-who.length // 2)
    return power.mmse(
        channel.response, channel.estimate, path_gain, share, 2 * noise.variance, variances
    )


def takes_reports(link: FadedLink) -> bool:
    """Return whether clients report the norms of their signals for the power control."""
    return link.control == "mmse" and link.variances == "reported"


@dataclass(frozen=True)
class Correction:
    """How the server compensates for truncated carriers.

    Attributes
    ----------
    kind : {"none", "expected", "active"}
        "none" under MMSE control, which does not truncate.
    active_probability : ndarray of float, shape [num_clients, num_carriers], or None
        Probability of being active, used by "expected".
    """

    kind: str
    active_probability: FloatArray | None = None

    @classmethod
    def of(cls, link: FadedLink, grid: OfdmGrid, path_gain: FloatArray) -> Correction:
        """Return the correction of a link, whose pilots are observed on ``grid``."""
        if link.control == "mmse" or link.correction == "none":
            return NO_CORRECTION
        if link.correction == "active":
            return cls("active")
        assert link.fading.law is not None
        errors = link.csi.error_variance(grid, path_gain)
        different, place = np.unique(errors, return_inverse=True)
        chance = power.active_probability(link.truncation, link.fading.law, different)
        return cls("expected", chance[place].reshape(errors.shape))

    def factor(self, active: BoolArray, weights: FloatArray | None) -> Float32Array | None:
        """Return the factor on what was received, [1 or num_slots, num_carriers]; None for 1.

        Parameters
        ----------
        active : ndarray of bool, shape [num_clients, num_slots, num_carriers]
            Where each client sends.
        weights : ndarray of float, shape [num_clients], or None
            Client weights, summing to 1; None means equal weights.
        """
        if self.kind == "none":
            return None
        if weights is None:
            weights = np.full(len(active), 1 / len(active))
        if self.active_probability is None:
            heard = np.einsum("i,isk->sk", weights, active)
        else:
            heard = (weights @ self.active_probability)[None, :]
        factor = np.divide(1, heard, out=np.zeros_like(heard), where=heard > power.SMALLEST)
        return factor.astype(np.float32)


NO_CORRECTION = Correction("none")


def check_block_options(link: BlockLink) -> None:
    """Validate the options of a link that sends blocks of OFDM symbols."""
    typed("grid", link.grid, OfdmGrid, "an OfdmGrid")
    assign(
        link,
        budget=choice("budget", link.budget, ("symbol", "round")),
        engine=choice("engine", link.engine, ("fast", "sionna")),
    )
    if link.interleaver_seed is not None:
        seed = integer("interleaver_seed", link.interleaver_seed, least=0)
        assign(link, interleaver_seed=seed)


def block_budget(link: BlockLink, who: Participants, packing: Packing) -> FloatArray:
    """Return the energy that each client may spend, [num_clients, L or 1]."""
    powers = who.per_client("power", link.power)[:, None]
    if link.budget == "round":
        return powers
    budget = np.empty((who.num_clients, packing.num_symbols))
    budget[...] = powers / packing.num_symbols
    return budget


def pilot_energy(link: BlockLink, who: Participants) -> FloatArray | float:
    """Return what each client spends on the pilots in the grid, [num_clients].

    A pilot has the budgeted mean power of an element of data.
    """
    if not link.grid.pilots:
        return 0.0
    return who.per_client("power", link.power) * link.grid.pilots / link.grid.num_carriers


def block_report(
    packing: Packing, precoding: power.Precoding, pilot_symbols: int
) -> dict[str, Any]:
    """Return the diagnostics of a block that do not depend on what is sent."""
    symbols, duration = packing.num_symbols, packing.grid.symbol_duration
    fraction = precoding.active_fraction
    return {
        "active_fraction": fraction,
        "silent": fraction == 0,
        "symbols": np.int64(symbols),
        "pilot_symbols": np.int64(pilot_symbols),
        "airtime": np.float64((symbols + pilot_symbols) * duration),
        "pilot_airtime": np.float64(pilot_symbols * duration),
    }
