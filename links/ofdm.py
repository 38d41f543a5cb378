"""The frequency-domain OFDM uplink: every client's vector on the same carriers at the same time.

A cyclic prefix no shorter than the channel turns multipath into one complex factor a carrier.
Movement within a slot is not modelled, and so no interference between carriers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from links.faded import FadedLink, check_grid
from links.opening import BaseLink, Opening
from links.radio import received_snr_db
from links.slot import BaseSlot, squared_norm
from phy.channel import Channel, refuse_longer_than_prefix
from phy.checks import assign, choice, integer
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing, packing_for
from phy.randomness import complex_normal
from phy.sionna_uplink import SionnaUplink
from phy.uplink import FusedUplink


@dataclass(frozen=True, kw_only=True)
class OfdmLink(FadedLink, BaseLink["OfdmSlot"]):
    """Over-the-air sums through OFDM.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    fading, csi, truncation, correction, control : see :class:`links.faded.FadedLink`
    grid : numerology
    budget : a client's ``power`` P holds for the "round", or as P/L for each of its L OFDM
        "symbol"s, which implies it
    engine : "fast", or "sionna" for the same slot through Sionna's own blocks
    interleaver_seed : of the interleaver that spreads the entries over the grid; None for none

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> signals = rng.standard_normal((3, 100))
    >>> slot = OfdmLink(entry_snr_db=30).open(num_clients=3, length=100, rng=rng)
    >>> reception = slot.send(signals, slot.max_gain(signals))
    >>> reception.total.shape, reception.energy.shape
    ((100,), (3, 1))
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
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    @property
    def channel_grid(self) -> OfdmGrid:
        return self.grid

    def _open(self, opening: Opening) -> OfdmSlot:
        packing = packing_for(self.grid, opening.length, self.interleaver_seed)
        channels = self.draw_channels(opening, packing.num_slots)
        return OfdmSlot(self, opening, packing, channels)


class OfdmSlot(BaseSlot):
    """One block of OFDM symbols.

    To be looked at: ``packing``, and of each trial ``channels`` and ``precodings``. It has working
    memory of its own: one thread a slot.
    """

    def __init__(
        self, link: OfdmLink, opening: Opening, packing: Packing, channels: list[Channel]
    ) -> None:
        self.link, self.packing, self.channels = link, packing, channels
        powers = link.powers(opening)[:, None]
        if link.budget == "symbol":
            powers = np.repeat(powers / packing.num_symbols, packing.num_symbols, axis=1)
        super().__init__(opening, powers)
        self._noise = link.noise_of(opening)
        self._noise_std = self._noise.std
        self.precodings = link.precodings(opening, channels, self._noise)
        self._chance = link.expected_active(opening)
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

    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        opening, grid = self._opening, self.packing.grid
        fraction = np.array([precoding.active_fraction for precoding in self.precodings])
        symbols = self.packing.num_symbols
        # a static channel is estimated once, a moving one in every slot
        pilots = self.channels[0].estimate.shape[1] * self.link.csi.pilots_per_slot
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
