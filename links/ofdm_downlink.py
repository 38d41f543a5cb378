r"""Analog broadcast through OFDM: one block for all, equalised by each client.

The model x lies on the resource elements as on the uplink, s[l, k]. Client i receives

    y_i[l, k] = gain a_i[k] s[l, k] + n_i[l, k],   a_i = sqrt(path_gain_i) h_i,   n ~ CN(0, N0)

and equalises with what it knows of its channel, a^_i:

    zero forcing:  s^ = y / (gain a^)
    LMMSE:         s^ = conj(a^) y / (gain (|a^|^2 + N0 / (gain^2 S))),   S = mean of |s[l, k]|^2
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from links import radio
from links.downlink import BaseDownlink, OpenedDownlink, check_server_options
from links.faded import FADING
from otafl._base.arrays import ComplexArray, FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, choice, integer, typed
from phy.channel import Channel, draw_channel, refuse_longer_than_prefix
from phy.csi import CSI, Csi, PerfectCsi
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing, packing_for
from phy.power import SMALLEST
from phy.randomness import complex_normal


@options
@dataclass(frozen=True, kw_only=True)
class OfdmDownlink(BaseDownlink):
    r"""An analog broadcast through OFDM, which each client receives over its own channel.

    Parameters
    ----------
    snr_db : float, optional
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise.
    entry_snr_db : float, optional
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], the Es/N0 of a resource
        element, instead of ``snr_db``; 20 dB unless that is given.
    power : float
        P, the largest energy of the server's broadcast in a round. From 1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per device by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    grid : OfdmGrid
        Numerology. Default: ``OfdmGrid()``, 400 carriers of 30 kHz.
    fading : Fading
        Channel model. Default: ``Tdl("A")``. A static channel is drawn anew in every round,
        independently of the uplink's. A moving channel is a function of device and time: with the
        same fading on both links it is the uplink's own (time-division duplex).
    csi : Csi
        What each client knows of its channel when it equalises. Default: ``PerfectCsi()``.
    equaliser : {"lmmse", "zero-forcing"}
        LMMSE weights carriers by their SNR, and draws entries on weak ones towards zero. Zero
        forcing has no such bias, but its mean squared error is infinite under Rayleigh fading:
        E 1/|h|^2 does not exist.
    budget : {"symbol", "round"}
        How ``power`` P is limited. "symbol": P/L in each of the L OFDM symbols (stricter);
        "round": P over the whole round.
    interleaver_seed : int or None
        Seed of the interleaver; None disables interleaving.

    Notes
    -----
    Clients know N0, their path gain, the gain, and the mean energy S of an element; the last two
    are numbers that the server announces. The channel estimate is used as if it were the channel.
    With perfect CSI, elements of equal energy have the squared errors, relative to S, 1 / snr[k]
    with zero forcing and 1 / (1 + snr[k]) with LMMSE, where
    snr[k] = gain^2 S path_gain |h[k]|^2 / N0.

    Examples
    --------
    >>> downlink = OfdmDownlink(entry_snr_db=30.0)
    >>> opened = downlink.open(num_clients=3, length=100, rng=np.random.default_rng(1))
    >>> opened.broadcast(np.ones(100)).received.shape
    (3, 100)
    """

    snr_db: float | None = None
    entry_snr_db: float | None = radio.DEFAULT_ENTRY_SNR_DB
    power: float = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    csi: Csi = field(default_factory=PerfectCsi)
    equaliser: str = "lmmse"
    budget: str = "symbol"
    interleaver_seed: int | None = 0

    def __post_init__(self) -> None:
        check_server_options(self)
        typed("grid", self.grid, OfdmGrid, "an OfdmGrid")
        typed("fading", self.fading, Fading, FADING)
        typed("csi", self.csi, Csi, CSI)
        assign(
            self,
            equaliser=choice("equaliser", self.equaliser, ("lmmse", "zero-forcing")),
            budget=choice("budget", self.budget, ("symbol", "round")),
        )
        if self.interleaver_seed is not None:
            seed = integer("interleaver_seed", self.interleaver_seed, least=0)
            assign(self, interleaver_seed=seed)
        if self.fading.delays is not None:
            refuse_longer_than_prefix(float(np.max(self.fading.delays)), self.grid)

    def _open(self, who: radio.Participants) -> OpenedDownlink:
        packing = packing_for(self.grid, who.length, self.interleaver_seed)
        path_gain = who.per_client("path_gain", self.path_gain)
        channel = draw_channel(
            self.grid,
            self.fading,
            self.csi,
            path_gain=path_gain,
            num_symbols=packing.num_symbols,
            **who.drawing,
        )
        medium = OfdmBroadcast(
            packing=packing,
            channel=channel,
            path_gain=path_gain,
            power=self.power,
            per_symbol=self.budget == "symbol",
            lmmse=self.equaliser == "lmmse",
            variance=2 * radio.noise_of(self, who.length).variance,
            pilot_symbols=channel.estimate.shape[1] * self.csi.pilots_per_slot,
            rng=who.rng,
        )
        return OpenedDownlink(who.num_clients, who.length, medium, moving=self.fading.continuous)


@dataclass(frozen=True)
class OfdmBroadcast:
    """A block of OFDM symbols in the frequency domain, as each client receives it.

    Attributes
    ----------
    packing : Packing
        Where the entries of the vector lie on the grid.
    channel : Channel
        The clients' channels and their estimates of them.
    path_gain : ndarray of float, shape [num_clients]
        Mean power of each channel.
    power : float
        The server's energy.
    per_symbol : bool
        Whether each OFDM symbol may take an equal share of it only.
    lmmse : bool
        Whether clients equalise by LMMSE, or by zero forcing.
    variance : float
        N0.
    pilot_symbols : int
        OFDM symbols spent on CSI.
    rng : numpy.random.Generator
        Source of the noise.
    """

    packing: Packing
    channel: Channel
    path_gain: FloatArray
    power: float
    per_symbol: bool
    lmmse: bool
    variance: float
    pilot_symbols: int
    rng: Rng

    @property
    def airtime(self) -> float:
        """Time on the air, pilots included [s]."""
        packing = self.packing
        return (packing.num_symbols + self.pilot_symbols) * packing.grid.symbol_duration

    def gain(self, energy: FloatArray) -> float:
        """Return the largest gain for symbols of this energy, [num_symbols], not all zero."""
        if self.per_symbol:
            return math.sqrt(self.power / (len(energy) * energy.max()))
        return math.sqrt(self.power / energy.sum())

    def deliver(self, vector: NDArray) -> NDArray:
        """Return the vector as equalised by each client."""
        packing = self.packing
        elements = packing.pack(vector)  # [num_symbols, num_carriers]
        energy = np.square(np.abs(elements), dtype=np.float64).sum(axis=1)
        if not energy.any():  # too small for float32
            return np.zeros((1, packing.length), np.float32)
        gain = self.gain(energy)
        noise = self.variance / (gain**2 * self.path_gain)  # relative to a_i
        mean_energy = energy.sum() / -(-packing.length // 2)
        arrival, weight = self._equalised(noise / mean_energy)
        if not noise.any():
            return packing.unpack(packing.per_symbol(arrival) * elements)
        shape = (len(self.path_gain), *elements.shape)
        received = complex_normal(self.rng, shape, std=1.0)
        received *= packing.per_symbol(weight * np.sqrt(noise).astype(np.float32)[:, None, None])
        received += packing.per_symbol(arrival) * elements
        return packing.unpack(received)

    def _equalised(self, noise: FloatArray) -> tuple[NDArray, ComplexArray]:
        """Return the factors of symbols and noise after equalisation, [m, num_slots, carriers].

        ``noise [num_clients]`` is that of an element relative to its mean energy.
        """
        response, estimate = self.channel.response, self.channel.estimate
        strength = np.square(np.abs(estimate))
        denominator = strength
        if self.lmmse:
            denominator = strength + noise.astype(np.float32)[:, None, None]
        heard = denominator > SMALLEST
        weight = np.zeros_like(estimate)
        np.divide(estimate.conj(), denominator, out=weight, where=heard)
        if estimate is response:  # real, and exactly 1 without noise
            arrival = np.divide(strength, denominator, out=np.zeros_like(strength), where=heard)
            return arrival, weight
        return weight * response, weight
