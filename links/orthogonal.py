"""The conventional alternative: every client digitally, in resources of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from links.faded import FADING
from links.ideal import quiet_report, unlimited
from links.radio import DEFAULT_SNR_DB, BaseLink, Noise, Participants, check_radio_options, noise_of
from links.uplink import Received, Uplink
from otafl._base.arrays import FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, integer, number, typed
from phy.channel import Channel, draw_channel, mean_power, refuse_longer_than_prefix
from phy.csi import PerfectCsi
from phy.digital import SCALE_BITS, quantise, spectral_efficiency
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
        typed("fading", self.fading, Fading, FADING)
        typed("grid", self.grid, OfdmGrid, "an OfdmGrid")
        assign(
            self,
            bits=integer("bits", self.bits, least=1, most=32),
            gap_db=number("gap_db", self.gap_db, least=0),
            max_efficiency=number("max_efficiency", self.max_efficiency, above=0),
        )
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    def _open(self, who: Participants) -> Uplink:
        grid = self.grid
        channel = draw_channel(
            grid,
            self.fading,
            PerfectCsi(),
            path_gain=who.per_client("path_gain", self.path_gain),
            num_symbols=min(grid.num_symbols(who.length), grid.symbols_per_slot),
            **who.drawing,
        )
        return self._over(who, channel)

    def _over(self, who: Participants, channel: Channel) -> Uplink:
        """Return the uplink over channels that have been drawn."""
        grid, noise = self.grid, noise_of(self, who.length)
        path_gain = who.per_client("path_gain", self.path_gain)
        symbol_energy = who.per_client("power", self.power) / grid.num_symbols(who.length)
        element_energy = (symbol_energy / grid.num_carriers * path_gain)[:, None]
        strength = np.square(np.abs(channel.response[:, 0]), dtype=np.float64)
        with np.errstate(divide="ignore"):
            snr = strength * element_energy / (2 * np.float64(noise.variance))
            efficiency = spectral_efficiency(snr, self.gap_db, self.max_efficiency).mean(axis=1)
            payload = self.bits * who.length + SCALE_BITS
            symbols = np.ceil(payload / (grid.num_carriers * efficiency))
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
