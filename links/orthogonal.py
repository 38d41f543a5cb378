"""The conventional alternative: every client digitally, in resources of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from links.faded import check_fading, check_grid
from links.ideal import UnboundSlot
from links.opening import BaseLink, Opening
from links.radio import RadioLink
from phy.channel import draw_channels, refuse_longer_than_prefix
from phy.checks import assign, integer, number
from phy.csi import PerfectCsi
from phy.digital import SCALE_BITS, quantise, spectral_efficiency
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid


@dataclass(frozen=True, kw_only=True)
class OrthogonalLink(RadioLink, BaseLink["OrthogonalSlot"]):
    """Each client's vector quantised, coded and sent alone on the whole grid, one after another.

    A client radiates as in an over-the-air round, ``power`` / L in each OFDM symbol, with L the
    symbols that the analog block would take, and goes on until its bits are through, at the
    rate that its channel carries: min(log2(1 + SNR / gap), max_efficiency) on every carrier, known
    to both ends and without errors. So there is no budget to hold, and no channel noise: what
    remains is the rounding. Time and energy are what differs.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    bits : of an entry, by stochastic rounding between its vector's extremes
    gap_db : what a practical code loses to Shannon's [dB]
    max_efficiency : bits a resource element at most; 8 is 256-QAM
    grid, fading : as in :class:`~links.ofdm.OfdmLink`; a moving channel is taken as it is when
        the round begins
    """

    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    bits: int = 8
    gap_db: float = 3.0
    max_efficiency: float = 8.0

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(
            self,
            bits=integer("bits", self.bits, least=1),
            gap_db=number("gap_db", self.gap_db, least=0),
            max_efficiency=number("max_efficiency", self.max_efficiency, above=0),
        )
        if self.bits > 32:
            raise ValueError(f"bits = {self.bits} is not allowed: give 1 to 32")
        check_fading(self.fading)
        check_grid(self.grid)
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    def _open(self, opening: Opening) -> OrthogonalSlot:
        return OrthogonalSlot(self, opening)


class OrthogonalSlot(UnboundSlot):
    """One round, client after client. Its energy has one column: the whole round's.

    efficiency : [trials, num_clients], bits a resource element that each channel carries
    symbols : [trials, num_clients], OFDM symbols that each client takes
    """

    def __init__(self, link: OrthogonalLink, opening: Opening) -> None:
        super().__init__(opening)
        self.link = link
        grid, path_gain = link.grid, link.path_gains(opening)
        channels = draw_channels(
            grid,
            link.fading,
            PerfectCsi(),
            clients=opening.clients,
            path_gain=path_gain,
            num_slots=1,
            time=opening.time,
            rngs=opening.rngs,
            device_rngs=opening.device_rngs,
        )
        symbol_energy = link.powers(opening) / grid.num_symbols(opening.length)
        element_energy = (symbol_energy / grid.num_carriers * path_gain)[:, None]
        self._noise = link.noise_of(opening)
        responses = np.array([channel.response[:, 0] for channel in channels])
        strength = np.square(np.abs(responses), dtype=np.float64)
        with np.errstate(divide="ignore"):
            snr = strength * element_energy / (2 * self._noise.variance[:, None, None])
        efficiency = spectral_efficiency(snr, link.gap_db, link.max_efficiency)
        self.efficiency = efficiency.mean(axis=-1)
        payload = link.bits * opening.length + SCALE_BITS
        with np.errstate(divide="ignore"):
            self.symbols = np.ceil(payload / (grid.num_carriers * self.efficiency))
        self._round_energy = (self.symbols * symbol_energy)[..., None]

    def _energy(self, trial: int, signals: NDArray) -> NDArray[np.float64]:
        return np.zeros((len(signals), 1))

    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        return signals, self._energy(trial, signals)  # nothing adds up in the air

    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, float]]:
        rng, bits = self._opening.rngs[trial], self.link.bits
        total = np.zeros(arrived.shape[1])
        for vector in arrived:
            total += quantise(vector, bits, rng)
        return total, {}

    def _spent(
        self, energy: NDArray[np.float64], gains: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return self._round_energy

    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        grid = self.link.grid
        return {
            **super()._diagnostics(spent),
            **self._noise.report,
            "symbols": self.symbols.sum(axis=-1),
            "airtime": self.symbols.sum(axis=-1) * grid.symbol_duration,
            "radiated_energy": spent[..., 0] * (1 + grid.cp_length / grid.fft_size),
        }
