r"""Digital broadcast: the server quantises its model, and every client decodes the same.

With b bits per entry and stochastic rounding to levels that are a step apart,

    x_i = Q(x) for every client i,   E Q(x) = x,   step = 2 max|x| / (2^b - 1)

    E ||Q(x) - x||^2 = step^2 sum_j f_j (1 - f_j),   f_j the distance of x_j to the level below

which is d step^2 / 6 if the f_j are spread evenly (rounding to the nearest level would leave half
of it, and a bias).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from links.digital import (
    check_digital_options,
    draw_digital_channel,
    efficiencies,
    symbols_needed,
)
from links.downlink import BaseDownlink, OpenedDownlink, check_server_options
from links.radio import DEFAULT_ENTRY_SNR_DB, Participants, noise_of
from otafl._base.arrays import FloatArray, Rng
from otafl._base.names import options
from otafl._base.validation import Scalars
from phy.digital import quantise
from phy.fading import Fading, Tdl
from phy.grid import OfdmGrid


@options
@dataclass(frozen=True, kw_only=True)
class QuantisedDownlink(BaseDownlink):
    """A digital broadcast of the quantised model, at the rate of the weakest client.

    The server radiates ``power`` / L in each OFDM symbol, with L the symbols that an analog
    broadcast would take, evenly over the carriers, until all bits are delivered. The rate is the
    smallest over the clients that take part of the mean of min(log2(1 + SNR / gap), max_efficiency)
    over the carriers, and all of them decode without errors. So the only error is that of the
    quantiser, the same for all clients; SNR, power and fading set the airtime.

    Parameters
    ----------
    snr_db : float, optional
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise.
    entry_snr_db : float, optional
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], instead of ``snr_db``; 20 dB
        unless that is given.
    power : float
        Energy that an analog broadcast may take. From 1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per device by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    grid : OfdmGrid
        Numerology. Default: ``OfdmGrid()``, 400 carriers of 30 kHz.
    fading : Fading
        Channel model. Default: ``Tdl("A")``. A moving channel is taken in the middle of
        the round's first slot.
    bits : int
        Bits per entry, rounded stochastically on a uniform grid from -max|x| to max|x|; the
        maximum takes 32 bits more.
    gap_db : float
        SNR gap of a practical code to capacity [dB].
    max_efficiency : float
        Bits per resource element at most; 8 is 256-QAM.

    Examples
    --------
    >>> opened = QuantisedDownlink(bits=2).open(3, 4, np.random.default_rng(1))
    >>> opened.broadcast([-3.0, -1.0, 1.0, 3.0]).received  # levels of two bits
    array([[-3., -1.,  1.,  3.],
           [-3., -1.,  1.,  3.],
           [-3., -1.,  1.,  3.]])
    """

    snr_db: float | None = None
    entry_snr_db: float | None = DEFAULT_ENTRY_SNR_DB
    power: float = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    grid: OfdmGrid = field(default_factory=OfdmGrid)
    fading: Fading = field(default_factory=Tdl)
    bits: int = 8
    gap_db: float = 3.0
    max_efficiency: float = 8.0

    def __post_init__(self) -> None:
        check_server_options(self)
        check_digital_options(self)

    def _open(self, who: Participants) -> OpenedDownlink:
        path_gain = who.per_client("path_gain", self.path_gain)
        symbol_energy = np.full(who.num_clients, self.power / self.grid.num_symbols(who.length))
        noise = noise_of(self, who.length)
        channel = draw_digital_channel(self, who)
        efficiency = efficiencies(self, channel, path_gain, symbol_energy, noise)
        weakest = efficiency.min(keepdims=True)
        symbols = float(symbols_needed(self, who.length, weakest)[0])
        medium = QuantisedBroadcast(
            bits=self.bits,
            efficiency=efficiency,
            airtime=symbols * self.grid.symbol_duration,
            rng=who.rng,
        )
        return OpenedDownlink(who.num_clients, who.length, medium, moving=self.fading.continuous)


@dataclass(frozen=True)
class QuantisedBroadcast:
    """One quantised vector for all clients.

    Attributes
    ----------
    bits : int
        Bits per entry.
    efficiency : ndarray of float, shape [num_clients]
        Bits per resource element that each channel carries; the smallest counts.
    airtime : float
        Time on the air [s].
    rng : numpy.random.Generator
        Source of the rounding.
    """

    bits: int
    efficiency: FloatArray
    airtime: float
    rng: Rng

    def deliver(self, vector: NDArray) -> NDArray:
        """Return the quantised vector, one row for all clients."""
        return quantise(vector, self.bits, self.rng)[None]
