"""The frequency-domain OFDM uplink: every client's vector on the same carriers at the same time.

A cyclic prefix no shorter than the channel turns multipath into one complex factor per carrier.
Movement within a slot is not modelled, and so neither is interference between carriers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from links import faded, radio
from links.uplink import Received, Uplink, squared_norm
from otafl._base.added import added
from otafl._base.arrays import ComplexArray, FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import Scalars
from phy.channel import Channel, draw_channel, mean_power, refuse_longer_than_prefix
from phy.csi import Csi, PerfectCsi
from phy.fading import Fading, Tdl
from phy.fused_medium import FusedMedium
from phy.grid import OfdmGrid
from phy.packing import Packing, packing_for
from phy.power import UNIT_SCALE, Precoding, largest_arrival
from phy.randomness import complex_normal
from phy.sionna_medium import SionnaMedium


@options
@dataclass(frozen=True, kw_only=True)
class OfdmLink(radio.BaseLink):
    """Over-the-air sums through OFDM.

    Parameters
    ----------
    snr_db : float or None
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise. 10 dB unless
        ``entry_snr_db`` is given.
    entry_snr_db : float or None
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], the Es/N0 of a resource
        element, instead of ``snr_db``.
    power : float or sequence of float
        Limit on the energy of a round: a scalar, or one value per client by global index. From
        1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per client by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    grid : OfdmGrid
        Numerology. Default: ``OfdmGrid()``, 400 carriers of 30 kHz.
    fading : Fading
        Channel model. Default: ``Tdl("A")``. A path delay beyond the cyclic prefix
        is rejected: use :class:`~links.WaveformLink` for that.
    csi : Csi
        What clients know of their channels. Default: ``PerfectCsi()``. A moving channel is
        observed in the middle of each slot's data.
    truncation : float
        Under inversion, a client is silent on carriers where its estimate of |h|^2, without path
        gain, does not exceed this threshold.
    correction : {"none", "expected", "active"}
        How the server compensates for silent clients. "none" leaves their part out, which for a
        link that carries models acts as weight decay. "expected" divides by the probability
        of being active; with CSI of error variance v the factor 1 / (1 + v) remains. "active"
        divides by the weight of the clients active on each carrier, and returns 0 where no client
        is active: a ratio estimator, biased when weights and data differ between clients.
    control : {"inversion", "mmse"}
        Channel inversion, or MMSE power control, which accepts misalignment on weak channels in
        return for less noise and does not truncate; optimal for symbols whose largest variance
        over the clients is 1 after the gain (see :mod:`phy.power`).
    variances : {"equal", "reported"}
        What MMSE control knows of the variances of the clients' symbols. "equal" (default): they
        are the same. "reported": each client reports the norm of its signal, one number, and the
        variances are proportional to the squared norms. A client with a small signal may then
        amplify it more, and its misalignment counts less.
    budget : {"symbol", "round"}
        How a client's ``power`` P is limited. "symbol": P/L in each of the L OFDM symbols
        (stricter); "round": P over the whole round.
    engine : {"fast", "sionna"}
        Fused algebra, or the same round through Sionna's own blocks.
    interleaver_seed : int or None
        Seed of the interleaver; None disables interleaving.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> signals = rng.standard_normal((3, 100))
    >>> uplink = OfdmLink(entry_snr_db=30).open(num_clients=3, length=100, rng=rng)
    >>> reception = uplink.send(signals, uplink.max_gain(signals))
    >>> reception.total.shape, reception.energy.shape
    ((100,), (3, 1))
    """

    snr_db: float | None = radio.DEFAULT_SNR_DB
    entry_snr_db: float | None = None
    power: Scalars = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    csi: Csi = field(default_factory=PerfectCsi)
    truncation: float = 0.05
    correction: str = "none"
    control: str = "inversion"
    variances: str = added("0.3", default="equal", earlier="equal")
    budget: str = "symbol"
    engine: str = "fast"
    interleaver_seed: int | None = 0

    def __post_init__(self) -> None:
        radio.check_radio_options(self)
        faded.check_fading_options(self)
        faded.check_block_options(self)
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    def _open(self, who: radio.Participants) -> Uplink:
        packing = packing_for(self.grid, who.length, self.interleaver_seed)
        channel = draw_channel(
            self.grid,
            self.fading,
            self.csi,
            path_gain=who.per_client("path_gain", self.path_gain),
            num_symbols=packing.num_symbols,
            **who.drawing,
        )
        return self._over(who, packing, channel)

    def _over(self, who: radio.Participants, packing: Packing, channel: Channel) -> Uplink:
        """Return the uplink over channels that have been drawn."""
        path_gain = who.per_client("path_gain", self.path_gain)
        noise, budget = radio.noise_of(self, who.length), faded.block_budget(self, who, packing)

        def medium_for(variances: FloatArray | None = None) -> OfdmMedium:
            precoding = faded.precode(self, who, channel, path_gain, noise, variances)
            engine: FusedMedium | SionnaMedium
            if self.engine == "sionna":
                engine = SionnaMedium(packing, precoding, channel, path_gain)
            else:
                engine = FusedMedium(packing, precoding)
            return OfdmMedium(
                packing=packing,
                channel=channel,
                precoding=precoding,
                engine=engine,
                correction=faded.Correction.of(self, self.grid, path_gain),
                noise=noise,
                rng=who.rng,
                pilot_energy=faded.pilot_energy(self, who),
                pilot_symbols=channel.estimate.shape[1] * self.csi.pilots_per_slot,
            )

        return Uplink(
            who.clients,
            who.length,
            budget,
            medium_for(),
            medium_for=medium_for if faded.takes_reports(self) else None,
            moving=self.fading.continuous,
            quality=partial(mean_power, channel.estimate, path_gain),
            only=lambda places: self._over(who.only(places), packing, channel.only(places)),
        )


@dataclass(frozen=True)
class OfdmMedium:
    """A block of OFDM symbols in the frequency domain.

    Attributes
    ----------
    packing : Packing
        Where the entries of a vector lie on the grid.
    channel : Channel
        The clients' channels and their estimates of them.
    precoding : Precoding
        What clients and server do on each carrier.
    engine : FusedMedium or SionnaMedium
        Carries the symbols.
    correction : Correction
        How the server compensates for truncated carriers.
    noise : Noise
        Noise level.
    rng : numpy.random.Generator
        Source of the noise.
    pilot_energy : float or ndarray of float, shape [num_clients]
        Energy spent on the pilots in the grid.
    pilot_symbols : int
        OFDM symbols spent on CSI.
    """

    packing: Packing
    channel: Channel
    precoding: Precoding
    engine: FusedMedium | SionnaMedium
    correction: faded.Correction
    noise: radio.Noise
    rng: Rng
    pilot_energy: FloatArray | float
    pilot_symbols: int

    def energy(self, signals: NDArray) -> NDArray:
        """Return what each client spends at unit gain, [num_clients, num_symbols]."""
        return self.engine.energy(signals)

    def superpose(self, signals: NDArray) -> tuple[ComplexArray, NDArray]:
        """Return what arrives at unit gain without noise, the server's scale divided out.

        ``[num_symbols, num_carriers]``, and the energy that it takes.
        """
        return self.engine.superpose(signals)

    def receive(
        self, arrived: ComplexArray, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Add noise, correct for truncated carriers, and unpack."""
        packing, grid = self.packing, self.packing.grid
        scale = None
        if self.precoding.scale is not UNIT_SCALE:  # MMSE control
            scale = packing.per_symbol(self.precoding.scale)
        at_antenna = arrived if scale is None else arrived * scale
        signal = squared_norm(at_antenna.view(np.float32).reshape(-1))
        if self.noise.variance > 0 and math.isfinite(gain):
            std = math.sqrt(2) * self.noise.std / gain  # N0 = 2 sigma_c^2
            received = complex_normal(self.rng, arrived.shape, std)
            if scale is not None:
                received /= scale
            received += arrived
        else:
            received = arrived
        factor = self.correction.factor(self.precoding.active, weights)
        if factor is not None:
            received = received * packing.per_symbol(factor)
        prefix = 1 + grid.cp_length / grid.fft_size
        diagnostics = {
            **self.noise.report,
            **faded.block_report(packing, self.precoding, self.pilot_symbols),
            "radiated_energy": (spent.sum(axis=1) + self.pilot_energy) * prefix,
            "received_snr_db": radio.received_snr_db(
                signal, gain, packing.length * self.noise.variance
            ),
            "noise_std": np.float64(self.noise.std),
            "largest_arrival": largest_arrival(self.precoding.arrival, weights),
        }
        if scale is None and factor is None:
            diagnostics["sum_noise_std"] = diagnostics["noise_std"]
        return Received(packing.unpack(received), diagnostics)
