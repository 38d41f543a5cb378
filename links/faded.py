"""What the links with fading share: the channel, what clients know of it and what they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from links.opening import Opening
from links.radio import Noise, RadioLink
from phy import power
from phy.channel import Channel, draw_channels
from phy.checks import assign, choice, instance_with, number
from phy.csi import Csi, PerfectCsi
from phy.fading import Fading, Rayleigh
from phy.grid import OfdmGrid
from phy.time_channel import TimeChannel


def check_grid(grid: OfdmGrid) -> None:
    if not isinstance(grid, OfdmGrid):
        raise ValueError(f"grid = {grid!r} is not allowed: give an OfdmGrid")


def check_fading(fading: Fading) -> None:
    instance_with("fading", fading, "draw", "Rayleigh(), Tdl('A') or SionnaFading(model)")


@dataclass(frozen=True, kw_only=True)
class FadedLink(RadioLink, ABC):
    """A link through fading.

    fading : how the channels behave
    csi : what clients know of them
    truncation : under inversion, a client is silent where its estimate of |h|^2, path gain apart,
        is not above this
    correction : what the server does about those it does not hear. "none" leaves their part out,
        which for a link that carries models acts as weight decay; "expected" divides by the
        probability of being active; "active" divides by the weight of those active on each
        carrier, and gives 0 where nobody is
    control : "inversion" of the channel, or "mmse", which gives up exactness on weak channels for
        less noise, and truncates nothing. It is optimal for symbols that gain brings to unit
        variance, the same for all clients (see :mod:`phy.power`)
    """

    fading: Fading = field(default_factory=Rayleigh)
    csi: Csi = field(default_factory=PerfectCsi)
    truncation: float = 0.0
    correction: str = "none"
    control: str = "inversion"

    @property
    @abstractmethod
    def channel_grid(self) -> OfdmGrid:
        """The carriers that pilots and fading see."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fading(self.fading)
        instance_with("csi", self.csi, "estimate", "PerfectCsi() or PilotCsi()")
        assign(
            self,
            truncation=number("truncation", self.truncation, least=0),
            correction=choice("correction", self.correction, ("none", "expected", "active")),
            control=choice("control", self.control, ("inversion", "mmse")),
        )
        if self.correction == "expected" and self.fading.law is None:
            raise ValueError(
                f"correction = 'expected' is not allowed with {type(self.fading).__name__}, whose "
                "law is not known: give 'active' or 'none'"
            )

    def draw_channels(self, opening: Opening, num_slots: int) -> list[Channel]:
        return draw_channels(
            self.channel_grid,
            self.fading,
            self.csi,
            clients=opening.clients,
            path_gain=self.path_gains(opening),
            num_slots=num_slots,
            time=opening.time,
            rngs=opening.rngs,
            device_rngs=opening.device_rngs,
        )

    def precodings(
        self, opening: Opening, channels: Sequence[Channel | TimeChannel], noise: Noise
    ) -> list[power.Precoding]:
        path_gain = self.path_gains(opening)
        if self.control == "inversion":
            return [power.invert(channel, path_gain, self.truncation) for channel in channels]
        # the elements that carry entries share a round's power; padding takes none
        share = self.powers(opening) / -(-opening.length // 2)
        return [
            power.mmse(channel, path_gain, share, 2 * float(variance))
            for channel, variance in zip(channels, noise.variance, strict=True)
        ]

    def expected_active(self, opening: Opening) -> NDArray[np.float64] | None:
        """[num_clients, num_carriers], P(active), where ``correction`` asks for it."""
        if self.correction != "expected":
            return None
        assert self.fading.law is not None
        errors = self.csi.error_variance(self.channel_grid, self.path_gains(opening))
        different, place = np.unique(errors, return_inverse=True)
        chance = power.active_probability(self.truncation, self.fading.law, different)
        return chance[place].reshape(errors.shape)

    def make_up(
        self,
        active: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chance: NDArray[np.float64] | None,
    ) -> NDArray[np.float32] | None:
        """``correction`` as a factor on what was received, [1 or num_slots, num_carriers].

        active : [num_clients, num_slots, num_carriers]
        weights : [num_clients], of sum 1
        chance : as ``expected_active`` gives it
        """
        if self.correction == "none" or self.control == "mmse":
            return None
        if chance is None:
            heard = np.einsum("i,isk->sk", weights, active)
        else:
            heard = (weights @ chance)[None, :]
        factor = np.divide(1, heard, out=np.zeros_like(heard), where=heard > power.SMALLEST)
        return factor.astype(np.float32)
