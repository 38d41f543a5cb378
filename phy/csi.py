"""Channel state information: what a transmitter knows of its channel.

Estimates are of the response with unit mean power; the path gain is known.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from otafl._base.arrays import ComplexArray, FloatArray, Rng
from otafl._base.decibels import amplitude_from_db, from_db
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, integer, number, typed
from phy.grid import OfdmGrid
from phy.randomness import complex_normal

CSI = "an instance of a subclass of otafl.Csi, such as PerfectCsi() or PilotCsi()"
"""What the option ``csi`` of a link must be."""


@dataclass(frozen=True)
class Observed:
    """The channels as clients could observe them, now or earlier.

    Attributes
    ----------
    grid : OfdmGrid
        Numerology. Pilots are observed on its data carriers.
    path_gain : ndarray of float, shape [num_clients]
        Mean power of each channel.
    response_before : callable
        Returns the response [num_clients, num_slots, num_carriers] some seconds before the client
        sends. A :class:`Csi` names the instants it needs in ``delays``.
    """

    grid: OfdmGrid
    path_gain: FloatArray
    response_before: Callable[[float], ComplexArray]

    @property
    def response(self) -> ComplexArray:
        """The response when the client sends."""
        return self.response_before(0.0)

    def earlier(self, delay: float) -> Observed:
        """Return what could be observed ``delay`` seconds ago."""
        return Observed(self.grid, self.path_gain, lambda more: self.response_before(delay + more))


@runtime_checkable
class Csi(Protocol):
    """How clients learn their channels. Subclass it and implement the two methods."""

    @property
    def delays(self) -> tuple[float, ...]:
        """How long before sending the channel is observed [s]."""
        return (0.0,)

    @property
    def pilots_per_slot(self) -> int:
        """OFDM symbols spent on pilots in each slot."""
        return 0

    @property
    def additive(self) -> bool:
        """Whether the error, ageing apart, is independent of the channel."""
        return True

    @abstractmethod
    def estimate(self, observed: Observed, rng: Rng) -> ComplexArray:
        """Return the clients' estimates, [num_clients, num_slots, num_carriers]."""
        ...

    @abstractmethod
    def error_variance(self, grid: OfdmGrid, path_gain: FloatArray) -> FloatArray:
        """Return the variance of the additive error, ageing apart, [num_clients, num_carriers]."""
        ...


@options
@dataclass(frozen=True)
class PerfectCsi(Csi):
    """The true response."""

    def estimate(self, observed: Observed, rng: Rng) -> ComplexArray:
        """Return the response itself, the same array object."""
        return observed.response

    def error_variance(self, grid: OfdmGrid, path_gain: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros((len(path_gain), grid.num_carriers))


@options
@dataclass(frozen=True)
class NoisyCsi(Csi):
    """h^ = h + e with e ~ CN(0, variance), independent of h, of carriers and of clients.

    Parameters
    ----------
    variance : float
        E |e|^2, at unit mean power of the channel.
    """

    variance: float = 0.01

    def __post_init__(self) -> None:
        assign(self, variance=number("variance", self.variance, least=0))

    def estimate(self, observed: Observed, rng: Rng) -> ComplexArray:
        """Return the response with independent errors."""
        response = observed.response
        return response + complex_normal(rng, response.shape, std=self.variance**0.5)

    def error_variance(self, grid: OfdmGrid, path_gain: FloatArray) -> FloatArray:
        """Return ``variance`` for every client and carrier."""
        return np.full((len(path_gain), grid.num_carriers), self.variance)


@options
@dataclass(frozen=True)
class PilotCsi(Csi):
    r"""Least squares from pilots: each slot has OFDM symbols known to both ends.

    The server broadcasts ``num_pilots`` symbols of QPSK on every used carrier and the channel is
    reciprocal (time-division duplex), so the overhead does not grow with the number of clients.
    Pilots show the channel as it is in the middle of the slot's data; wrap it in :class:`AgedCsi`
    to model the delay between estimation and transmission. A static channel is observed once per
    round, a moving one in every slot.

    Parameters
    ----------
    snr_db : float
        Pilot energy over noise per resource element, at unit path gain [dB].
    num_pilots : int
        Pilot symbols averaged in each slot.
    num_taps : int or None
        Keep only this many taps of the impulse response, a quarter of them before time zero, to
        capture the leading edge of fractionally delayed pulses. On N used carriers this multiplies
        the error by num_taps / N, and it cuts a longer channel off. None keeps all.

    Notes
    -----
    A client receives y = sqrt(path_gain) h x + w, w ~ CN(0, 1/snr), and averages y / x:

        h^ = h + e,   E |e|^2 = 1 / (snr path_gain num_pilots)
    """

    snr_db: float = 20.0
    num_pilots: int = 1
    num_taps: int | None = None

    def __post_init__(self) -> None:
        assign(
            self,
            snr_db=number("PilotCsi.snr_db", self.snr_db, least=-200, infinite=True),
            num_pilots=integer("num_pilots", self.num_pilots, least=1),
        )
        if self.num_taps is not None:
            assign(self, num_taps=integer("num_taps", self.num_taps, least=1))

    @property
    def pilots_per_slot(self) -> int:
        """OFDM symbols spent on pilots in each slot."""
        return self.num_pilots

    @property
    def additive(self) -> bool:
        """Whether the error is independent of the channel: not if taps are cut off."""
        return self.num_taps is None

    def estimate(self, observed: Observed, rng: Rng) -> ComplexArray:
        """Return least-squares estimates from noisy pilots."""
        response, grid = observed.response, observed.grid
        pilots = qpsk_pilots(self.num_pilots, grid.num_carriers)
        amplitude = np.sqrt(observed.path_gain).astype(np.float32)[:, None, None, None]
        noise_std = amplitude_from_db(-self.snr_db)
        noise = complex_normal(rng, (*response.shape[:2], *pilots.shape), noise_std)
        received = amplitude * response[:, :, None, :] * pilots + noise
        estimate = (received * pilots.conj()).mean(axis=2) / amplitude[..., 0]
        if self.num_taps is None:
            return estimate
        basis = _delay_subspace(grid, self.num_taps)
        return (estimate @ basis.conj()) @ basis.T

    def error_variance(self, grid: OfdmGrid, path_gain: FloatArray) -> FloatArray:
        """Return 1 / (snr path_gain num_pilots), or the part of it that the kept taps hold."""
        variance = from_db(-self.snr_db) / (path_gain * self.num_pilots)
        share = np.ones(grid.num_carriers)
        if self.num_taps is not None:
            share = (np.abs(_delay_subspace(grid, self.num_taps)) ** 2).sum(axis=1)
        return variance[:, None] * share


@options
@dataclass(frozen=True)
class AgedCsi(Csi):
    """Outdated CSI: the estimate that ``of`` would have made ``delay`` seconds earlier.

    Parameters
    ----------
    delay : float
        How long before sending the channel is observed [s]. A channel that does not move does not
        age.
    of : Csi
        How the channel is estimated at that time; it may be aged itself.
    """

    delay: float = 1e-3
    of: Csi = field(default_factory=PerfectCsi)

    def __post_init__(self) -> None:
        assign(self, delay=number("AgedCsi.delay", self.delay, least=0))
        typed("AgedCsi.of", self.of, Csi, CSI)

    @property
    def delays(self) -> tuple[float, ...]:
        """How long before sending the channel is observed [s]."""
        return tuple(self.delay + delay for delay in self.of.delays)

    @property
    def pilots_per_slot(self) -> int:
        """OFDM symbols spent on pilots in each slot."""
        return self.of.pilots_per_slot

    @property
    def additive(self) -> bool:
        """Whether the error, ageing apart, is independent of the channel."""
        return self.of.additive

    def estimate(self, observed: Observed, rng: Rng) -> ComplexArray:
        """Return the estimate made ``delay`` seconds earlier."""
        return self.of.estimate(observed.earlier(self.delay), rng)

    def error_variance(self, grid: OfdmGrid, path_gain: FloatArray) -> FloatArray:
        """Return the error variance of the underlying estimate."""
        return self.of.error_variance(grid, path_gain)


@lru_cache(maxsize=8)
def qpsk_pilots(num_pilots: int, num_carriers: int) -> ComplexArray:
    """Return unit-power QPSK symbols that everyone knows, [num_pilots, num_carriers]."""
    signs = np.random.Generator(np.random.Philox(0)).integers(0, 2, (2, num_pilots, num_carriers))
    pilots = ((2 * signs[0] - 1 + 1j * (2 * signs[1] - 1)) / np.sqrt(2)).astype(np.complex64)
    pilots.setflags(write=False)
    return pilots


@lru_cache(maxsize=8)
def _delay_subspace(grid: OfdmGrid, num_taps: int) -> ComplexArray:
    """Return an orthonormal basis of responses with ``num_taps`` taps, [num_carriers, num_taps]."""
    if num_taps > grid.num_carriers:
        raise OptionError(
            "num_taps", f"at most the number of used carriers, {grid.num_carriers}", num_taps
        )
    taps = np.arange(num_taps) - num_taps // 4
    waves = np.exp(-2j * np.pi / grid.fft_size * np.outer(grid.carriers, taps))
    return np.linalg.qr(waves)[0].astype(np.complex64)
