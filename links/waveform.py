"""The time-domain OFDM uplink: samples through transmitters, multipath, clocks and a receiver.

pack -> inversion and budgets -> OFDM modulation -> transmit impairments -> each client's multipath
-> superposition -> noise -> receive impairments -> demodulation -> unpack

Clients and server agree on time and phase where a slot begins, and nothing is sent before or after
it. Phase and timing errors grow within a slot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links import faded, radio
from links.uplink import Received, Uplink
from otafl._base.added import added
from otafl._base.arrays import ComplexArray, FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, Scalars, assign, boolean, integer
from phy.air import FastAir
from phy.channel import mean_power
from phy.csi import Csi, PerfectCsi
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid
from phy.impairments import Devices, Impairment
from phy.impairments.impairment import checked_chain
from phy.packing import Packing, packing_for
from phy.power import UNIT_SCALE, Precoding
from phy.randomness import device_key
from phy.sionna_air import SionnaAir
from phy.time_channel import TimeChannel, draw_time_channel, lags_of, refuse_too_fast
from phy.waveform_medium import SERVER, Measured, WaveformMedium


@options
@dataclass(frozen=True, kw_only=True)
class WaveformLink(radio.BaseLink):
    """Over-the-air sums through sampled OFDM waveforms and the hardware of clients and server.

    Budgets and the energy of a reception are those of the resource elements before impairments,
    without prefix and pilots. With pilots in the grid, the server derotates each symbol
    by the common phase of its pilots.

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
        Channel model. Default: ``Tdl("A")``. A channel may be longer than the prefix and
        may move within a slot.
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
        pocketfft and fast convolution, or the same round through Sionna's own blocks.
    interleaver_seed : int or None
        Seed of the interleaver; None disables interleaving.
    transmit : sequence of Impairment
        Impairments of each client's transmitter, in signal-chain order.
    receive : sequence of Impairment
        Impairments of the server's receiver, in signal-chain order.
    window_advance : int
        How early the FFT window starts, within the prefix, to tolerate early clients [samples].
        With fractional delays, pulses begin up to 13 samples before the first path; the window then
        starts that much earlier on its own, as far as the prefix is longer than the channel. Late
        clients can use only the rest of the prefix.
    csi_through_faults : bool
        Whether clients estimate their channels from a pilot symbol that passes through both ends'
        hardware, once per round; otherwise their CSI does not include the impairments.

    Examples
    --------
    >>> from phy.impairments import Adc, CarrierOffset, Rapp
    >>> link = WaveformLink(
    ...     entry_snr_db=20,
    ...     transmit=(CarrierOffset(std=0.01), Rapp(backoff_db=8)),
    ...     receive=(Adc(bits=12),),
    ... )
    >>> rng = np.random.default_rng(1)
    >>> signals = rng.standard_normal((3, 100))
    >>> uplink = link.open(num_clients=3, length=100, rng=rng)
    >>> reception = uplink.send(signals, uplink.max_gain(signals))
    >>> reception.total.shape, reception.diagnostics["clip_rate"].shape
    ((100,), (3,))
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
    transmit: tuple[Impairment, ...] = ()
    receive: tuple[Impairment, ...] = ()
    window_advance: int = 0
    csi_through_faults: bool = False

    def __post_init__(self) -> None:
        radio.check_radio_options(self)
        faded.check_fading_options(self)
        faded.check_block_options(self)
        advance = integer("window_advance", self.window_advance, least=0)
        if advance > self.grid.cp_length:
            raise OptionError(
                "window_advance", f"at most cp_length = {self.grid.cp_length}", advance
            )
        assign(
            self,
            window_advance=advance,
            csi_through_faults=boolean("csi_through_faults", self.csi_through_faults),
            transmit=checked_chain("transmit", self.transmit, self.grid),
            receive=checked_chain("receive", self.receive, self.grid),
        )
        if self.fading.delays is not None:
            lags_of(self.fading.delays, self.grid)
        refuse_too_fast(self.fading.doppler, self.grid)

    def _open(self, who: radio.Participants) -> Uplink:
        for side, chain in (("transmit", self.transmit), ("receive", self.receive)):
            for impairment in chain:
                impairment.check(self.grid, side, int(who.clients.max()) + 1)
        packing = packing_for(self.grid, who.length, self.interleaver_seed)
        channel, observed = draw_time_channel(
            self.grid,
            self.fading,
            self.csi,
            path_gain=who.per_client("path_gain", self.path_gain),
            num_symbols=packing.num_symbols,
            **who.drawing,
        )
        key = device_key(who.device_rng, who.rng) if self.transmit or self.receive else 0
        if self.csi_through_faults:
            samples = self._samples(who, packing, key)
            observed = samples.observed_through_hardware(observed, channel, who.rng)
        channel = channel._replace(estimate=self.csi.estimate(observed, who.rng))
        return self._over(who, packing, channel, key)

    def _samples(self, who: radio.Participants, packing: Packing, key: int) -> WaveformMedium:
        """Return the hardware of the participants and the air between."""
        path_gain = who.per_client("path_gain", self.path_gain)
        engine = SionnaAir if self.engine == "sionna" else FastAir
        # the mean sample power that clients are allowed
        sample_power = who.per_client("power", self.power)
        sample_power /= packing.num_symbols * self.grid.fft_size
        return WaveformMedium(
            self.grid,
            packing.num_symbols,
            engine(self.grid, np.sqrt(path_gain)),
            self.transmit,
            self.receive,
            self.window_advance,
            clients=Devices(key, who.clients.tolist()),
            server=Devices(key, [SERVER]),
            rms=np.sqrt(sample_power),
        )

    def _over(
        self, who: radio.Participants, packing: Packing, channel: TimeChannel, key: int
    ) -> Uplink:
        """Return the uplink over channels that have been drawn."""
        path_gain = who.per_client("path_gain", self.path_gain)
        noise, budget = radio.noise_of(self, who.length), faded.block_budget(self, who, packing)
        samples = self._samples(who, packing, key)

        def medium_for(variances: FloatArray | None = None) -> SampledMedium:
            precoding = faded.precode(self, who, channel, path_gain, noise, variances)
            return SampledMedium(
                packing=packing,
                channel=channel,
                precoding=precoding,
                samples=samples,
                amplitude=_of_data(precoding.amplitude(channel.estimate), packing),
                correction=faded.Correction.of(self, self.grid.without_pilots, path_gain),
                noise=noise,
                rng=who.rng,
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
            only=lambda places: self._over(who.only(places), packing, channel.only(places), key),
        )


def _of_data(values: NDArray, packing: Packing) -> NDArray:
    """Return ``[..., slots, used carriers]`` as ``[..., 1 or num_symbols, num_carriers]``."""
    grid = packing.grid
    if grid.pilots and values.shape[-1] > 1:
        values = values[..., ~grid.is_pilot]
    return packing.per_symbol(values)


@dataclass(frozen=True)
class SampledMedium:
    """A block of OFDM symbols in samples.

    Attributes
    ----------
    packing : Packing
        Where the entries of a vector lie on the grid.
    channel : TimeChannel
        The clients' channels and their estimates of them.
    precoding : Precoding
        What clients and server do on each used carrier.
    samples : WaveformMedium
        Carries the symbols.
    amplitude : ndarray of complex64, shape [num_clients, 1 or num_symbols, num_carriers]
        What clients multiply their symbols by.
    correction : Correction
        How the server compensates for truncated carriers.
    noise : Noise
        Noise level.
    rng : numpy.random.Generator
        Source of noise and impairments.
    pilot_symbols : int
        OFDM symbols spent on CSI.
    """

    packing: Packing
    channel: TimeChannel
    precoding: Precoding
    samples: WaveformMedium
    amplitude: ComplexArray
    correction: faded.Correction
    noise: radio.Noise
    rng: Rng
    pilot_symbols: int

    def energy(self, signals: NDArray) -> NDArray:
        """Return what each client spends at unit gain, [num_clients, num_symbols]."""
        return self.superpose(signals)[1]

    def superpose(self, signals: NDArray) -> tuple[ComplexArray, NDArray]:
        """Return the clients' elements, which add up in the air, and their energy at unit gain."""
        elements = self.packing.pack(signals)
        elements *= self.amplitude
        parts = elements.view(np.float32)
        return elements, np.einsum("mlk,mlk->ml", parts, parts)

    def papr_db(self, signals: NDArray, gain: float) -> FloatArray:
        """Return the PAPR of every OFDM symbol, [num_clients, num_symbols] [dB].

        Oversampled, as symbols leave digital baseband; NaN for an empty symbol.
        """
        elements, _ = self.superpose(np.asarray(signals))
        return 10 * np.log10(self.samples.papr(elements, gain, self.channel))

    def receive(
        self, arrived: ComplexArray, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Carry the elements through the air and hardware, correct, and unpack."""
        # without energy there is nothing to scale, and a gain of inf means no noise
        level, noise_std = (1.0, 0.0) if math.isinf(gain) else (gain, self.noise.std / gain)
        received, measured = self.carried(arrived, level, noise_std, self.rng)
        factor = self.correction.factor(self.precoding.active, weights)
        if factor is not None:
            received *= _of_data(factor, self.packing)
        return Received(self.packing.unpack(received), self._report(measured, level, noise_std))

    def carried(
        self, elements: ComplexArray, gain: float, noise_std: float, rng: Rng
    ) -> tuple[ComplexArray, Measured]:
        """Return what arrives before any correction, [num_symbols, num_carriers], gain removed."""
        std = math.sqrt(2) * noise_std  # N0 = 2 sigma_c^2
        received, measured = self.samples.carry(elements, gain, self.channel, std, rng)
        if self.precoding.scale is not UNIT_SCALE:  # MMSE control
            received /= _of_data(self.precoding.scale, self.packing)
        return received, measured

    def _report(self, measured: Measured, gain: float, noise_std: float) -> dict[str, Any]:
        grid, rms = self.packing.grid, self.samples.rms / gain
        num_samples = self.packing.num_symbols * grid.fft_size
        without_prefix = grid.fft_size / grid.symbol_length
        report = {
            **self.noise.report,
            **faded.block_report(self.packing, self.precoding, self.pilot_symbols),
            "received_snr_db": radio.received_snr_db(
                measured.arrived, 1.0, self.packing.length * noise_std**2
            ),
            "noise_std": np.float64(self.noise.std),
            "radiated_energy": measured.energy * gain**2,
            "average_power": measured.energy * without_prefix / (num_samples * rms**2),
            "peak_power": measured.peak / rms**2,
        }
        if self.samples.transmit:
            report |= {"papr_db": 10 * np.log10(measured.papr), "clip_rate": measured.clipped}
        if self.samples.receive:
            report["receiver_clip_rate"] = np.float64(measured.server_clipped)
        return report
