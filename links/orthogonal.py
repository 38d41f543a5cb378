"""The conventional alternative: every client digitally, in resources of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from links.digital import (
    check_digital_options,
    draw_digital_channel,
    efficiencies,
    symbols_needed,
)
from links.ideal import quiet_report, unlimited
from links.radio import DEFAULT_SNR_DB, BaseLink, Noise, Participants, check_radio_options, noise_of
from links.uplink import Received, Uplink
from otafl._base.arrays import FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import Scalars
from phy.channel import Channel, mean_power
from phy.digital import quantise
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid


@options
@dataclass(frozen=True, kw_only=True)
class OrthogonalLink(BaseLink):
    """Each client's vector quantised, coded and sent alone on the whole grid, one after another.

    A client radiates as in an over-the-air round, ``power`` / L in each OFDM symbol, with L the
    symbols that the analog block would take, and keeps sending until all its bits are delivered, at
    the rate that its channel carries: min(log2(1 + SNR / gap), max_efficiency) on every carrier,
    known to both ends and without errors. There is therefore no budget and no channel noise; the
    only error is rounding. What differs from over-the-air links is airtime and energy.

    Parameters
    ----------
    snr_db : float or None
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise. 10 dB unless
        ``entry_snr_db`` is given.
    entry_snr_db : float or None
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], instead of ``snr_db``.
    power : float or sequence of float
        Energy that an analog round may take: a scalar, or one value per client by global index.
        From 1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per client by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    grid : OfdmGrid
        Numerology. Default: ``OfdmGrid()``, 400 carriers of 30 kHz.
    fading : Fading
        Channel model. Default: ``Tdl("A")``. A moving channel is taken in the middle of
        the round's first slot.
    bits : int
        Bits per entry, rounded stochastically on a uniform grid from -max|v| to max|v| of its
        vector.
    gap_db : float
        SNR gap of a practical code to capacity [dB].
    max_efficiency : float
        Bits per resource element at most; 8 is 256-QAM.
    """

    snr_db: float | None = DEFAULT_SNR_DB
    entry_snr_db: float | None = None
    power: Scalars = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    bits: int = 8
    gap_db: float = 3.0
    max_efficiency: float = 8.0

    def __post_init__(self) -> None:
        check_radio_options(self)
        check_digital_options(self)

    def _open(self, who: Participants) -> Uplink:
        return self._over(who, draw_digital_channel(self, who))

    def _over(self, who: Participants, channel: Channel) -> Uplink:
        """Return the uplink over channels that have been drawn."""
        grid, noise = self.grid, noise_of(self, who.length)
        path_gain = who.per_client("path_gain", self.path_gain)
        symbol_energy = who.per_client("power", self.power) / grid.num_symbols(who.length)
        efficiency = efficiencies(self, channel, path_gain, symbol_energy, noise)
        symbols = symbols_needed(self, who.length, efficiency)
        medium = OrthogonalMedium(
            grid=grid,
            bits=self.bits,
            efficiency=efficiency,
            symbols=symbols,
            round_energy=symbols * symbol_energy,
            noise=noise,
            rng=who.rng,
        )
        budget = unlimited(who.num_clients)
        return Uplink(
            who.clients,
            who.length,
            budget,
            medium,
            moving=self.fading.continuous,
            quality=partial(mean_power, channel.response, path_gain),
            only=lambda places: self._over(who.only(places), channel.only(places)),
        )


@dataclass(frozen=True)
class OrthogonalMedium:
    """One client after another. Its energy has one column: the whole round's.

    Attributes
    ----------
    grid : OfdmGrid
        Numerology.
    bits : int
        Bits per entry.
    efficiency : ndarray of float, shape [num_clients]
        Bits per resource element that each channel carries.
    symbols : ndarray of float, shape [num_clients]
        OFDM symbols that each client takes.
    round_energy : ndarray of float, shape [num_clients]
        Energy of each client's data.
    noise : Noise
        Noise level.
    rng : numpy.random.Generator
        Source of the rounding.
    """

    grid: OfdmGrid
    bits: int
    efficiency: FloatArray
    symbols: FloatArray
    round_energy: FloatArray
    noise: Noise
    rng: Rng

    def energy(self, signals: NDArray) -> FloatArray:
        """Return zero: what the round takes does not depend on the signals."""
        return np.zeros((len(signals), 1))

    def superpose(self, signals: NDArray) -> tuple[NDArray, FloatArray]:
        """Return the signals: nothing adds up in the air."""
        return signals, self.energy(signals)

    def receive(
        self, arrived: NDArray, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Return the sum of the quantised vectors; clients of weight 0 have nothing to send."""
        sends = np.ones(len(arrived), bool) if weights is None else weights > 0
        total = np.zeros(arrived.shape[1])
        for vector in arrived[sends]:
            total += quantise(vector, self.bits, self.rng)
        grid, symbols = self.grid, self.symbols[sends].sum()
        energy = np.where(sends, self.round_energy, 0.0)
        prefix = 1 + grid.cp_length / grid.fft_size
        diagnostics = {
            **quiet_report(len(arrived)),
            **self.noise.report,
            "symbols": symbols,
            "airtime": symbols * grid.symbol_duration,
            "radiated_energy": energy * (1 + grid.pilots / grid.num_carriers) * prefix,
        }
        return Received(total, diagnostics, energy[:, None])
