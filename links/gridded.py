"""What the links on an OFDM grid share: the grid, its budgets and what a round reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from links.faded import FadedLink, check_grid
from links.opening import Opening
from links.slot import BaseSlot
from phy.channel import Channel
from phy.checks import assign, choice, integer
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing, packing_for
from phy.power import Precoding
from phy.time_channel import TimeChannel


@dataclass(frozen=True, kw_only=True)
class GridLink(FadedLink):
    """A link through OFDM.

    grid : numerology
    budget : a client's ``power`` P holds for the "round", or as P/L for each of its L OFDM
        "symbol"s, which implies it
    engine : "fast", or "sionna" for the same slot through Sionna's own blocks
    interleaver_seed : of the interleaver that spreads the entries over the grid; None for none
    """

    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    truncation: float = 0.05
    budget: str = "symbol"
    engine: str = "fast"
    interleaver_seed: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(
            self,
            budget=choice("budget", self.budget, ("symbol", "round")),
            engine=choice("engine", self.engine, ("fast", "sionna")),
        )
        check_grid(self.grid)
        if self.interleaver_seed is not None:
            seed = integer("interleaver_seed", self.interleaver_seed, least=0)
            assign(self, interleaver_seed=seed)

    def packing(self, opening: Opening) -> Packing:
        return packing_for(self.grid, opening.length, self.interleaver_seed)


class GridSlot(BaseSlot):
    """One block of OFDM symbols.

    To be looked at: ``packing``, and of each trial ``channels`` and ``precodings``.
    """

    def __init__(
        self,
        link: GridLink,
        opening: Opening,
        packing: Packing,
        channels: Sequence[Channel | TimeChannel],
    ) -> None:
        powers = link.powers(opening)[:, None]
        if link.budget == "symbol":
            powers = np.repeat(powers / packing.num_symbols, packing.num_symbols, axis=1)
        super().__init__(opening, powers)
        self.packing = packing
        self._noise = link.noise_of(opening)
        self._noise_std = self._noise.std
        self.precodings: list[Precoding] = link.precodings(opening, channels, self._noise)
        self._chance = link.expected_active(opening)
        # a static channel is estimated once, a moving one in every slot
        self._pilot_symbols = channels[0].estimate.shape[1] * link.csi.pilots_per_slot

    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        opening, grid = self._opening, self.packing.grid
        fraction = np.array([precoding.active_fraction for precoding in self.precodings])
        symbols, pilots = self.packing.num_symbols, self._pilot_symbols
        constants = {
            "symbols": symbols,
            "pilot_symbols": pilots,
            "airtime": (symbols + pilots) * grid.symbol_duration,
            "pilot_airtime": pilots * grid.symbol_duration,
        }
        return {
            **self._noise.report,
            "active_fraction": fraction,
            "silent": fraction == 0,
            **{name: np.full(opening.num_trials, value) for name, value in constants.items()},
            "radiated_energy": spent.sum(axis=-1) * (1 + grid.cp_length / grid.fft_size),
        }
