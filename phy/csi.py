"""What a transmitter knows of its channel: the true response, or an estimate of it.

Estimates are of the response with unit mean power; the path gain is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from phy.checks import assign, instance_with, integer, number
from phy.grid import OfdmGrid
from phy.randomness import complex_normal


class Csi(Protocol):
    """How clients learn their channel.

    delay : how old the response is that they look at [s]
    pilots_per_slot : OFDM symbols spent on pilots in each slot
    """

    @property
    def delay(self) -> float: ...

    @property
    def pilots_per_slot(self) -> int: ...

    def estimate(
        self,
        response: NDArray[np.complex64],
        grid: OfdmGrid,
        path_gain: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        """``response [num_clients, num_slots, num_carriers]`` as the clients see it."""

    def error_variance(self, grid: OfdmGrid, path_gain: NDArray[np.float64]) -> NDArray[np.float64]:
        """[num_clients, num_carriers] variance of the additive error, ageing apart."""


@dataclass(frozen=True)
class PerfectCsi:
    """The true response."""

    delay = 0.0
    pilots_per_slot = 0

    def estimate(
        self,
        response: NDArray[np.complex64],
        grid: OfdmGrid,
        path_gain: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        return response

    def error_variance(self, grid: OfdmGrid, path_gain: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros((len(path_gain), grid.num_carriers))


@dataclass(frozen=True)
class NoisyCsi:
    """h^ = h + e with e ~ CN(0, variance), independent of h, of carriers and of clients."""

    variance: float = 0.01
    delay = 0.0
    pilots_per_slot = 0

    def __post_init__(self) -> None:
        assign(self, variance=number("variance", self.variance, least=0))

    def estimate(
        self,
        response: NDArray[np.complex64],
        grid: OfdmGrid,
        path_gain: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        return response + complex_normal(rng, response.shape, std=self.variance**0.5)

    def error_variance(self, grid: OfdmGrid, path_gain: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full((len(path_gain), grid.num_carriers), self.variance)


@dataclass(frozen=True)
class PilotCsi:
    r"""Least squares from pilots: each slot has OFDM symbols known to both ends.

    They show the channel as it is in the middle of the slot; put :class:`AgedCsi` around for the
    time between looking and sending. The server broadcasts ``num_pilots`` symbols of QPSK on every
    used carrier and the channel is reciprocal (time-division duplex), so the overhead does not grow
    with the clients. A static channel is looked at once, a moving one in every slot. A client
    receives y = sqrt(path_gain) h x + w, w ~ CN(0, 1/snr), and averages y / x:

        h^ = h + e,   E |e|^2 = 1 / (snr path_gain num_pilots)

    snr_db : pilot energy over noise per resource element, at unit path gain [dB]
    num_pilots : pilot symbols averaged in each slot
    num_taps : keep only this many taps of the impulse response, a quarter of them before time
        zero for what a fractional delay spills there; on N used carriers the error then is
        num_taps / N of the above, and a longer channel is cut. None keeps all.
    """

    snr_db: float = 20.0
    num_pilots: int = 1
    num_taps: int | None = None
    delay = 0.0

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
        return self.num_pilots

    def estimate(
        self,
        response: NDArray[np.complex64],
        grid: OfdmGrid,
        path_gain: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        pilots = qpsk_pilots(self.num_pilots, grid.num_carriers)
        amplitude = np.sqrt(path_gain).astype(np.float32)[:, None, None, None]
        noise_std = 10 ** (-self.snr_db / 20)
        noise = complex_normal(rng, (*response.shape[:2], *pilots.shape), noise_std)
        received = amplitude * response[:, :, None, :] * pilots + noise
        estimate = (received * pilots.conj()).mean(axis=2) / amplitude[..., 0]
        if self.num_taps is None:
            return estimate
        basis = _delay_subspace(grid, self.num_taps)
        return (estimate @ basis.conj()) @ basis.T

    def error_variance(self, grid: OfdmGrid, path_gain: NDArray[np.float64]) -> NDArray[np.float64]:
        variance = 10 ** (-self.snr_db / 10) / (path_gain * self.num_pilots)
        share = np.ones(grid.num_carriers)
        if self.num_taps is not None:
            share = (np.abs(_delay_subspace(grid, self.num_taps)) ** 2).sum(axis=1)
        return variance[:, None] * share


@dataclass(frozen=True)
class AgedCsi:
    """What ``of`` would have known ``delay`` seconds ago, by the fading's own Doppler.

    A channel that does not move (speed zero) does not age.
    """

    delay: float = 1e-3
    of: Csi = field(default_factory=PerfectCsi)

    def __post_init__(self) -> None:
        assign(self, delay=number("AgedCsi.delay", self.delay, least=0))
        instance_with("AgedCsi.of", self.of, "estimate", "PerfectCsi() or PilotCsi()")
        if self.of.delay:
            raise ValueError(f"of = {self.of!r} is not allowed: it is aged already, add the delays")

    @property
    def pilots_per_slot(self) -> int:
        return self.of.pilots_per_slot

    def estimate(
        self,
        response: NDArray[np.complex64],
        grid: OfdmGrid,
        path_gain: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        return self.of.estimate(response, grid, path_gain, rng)

    def error_variance(self, grid: OfdmGrid, path_gain: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.of.error_variance(grid, path_gain)


@lru_cache(maxsize=8)
def qpsk_pilots(num_pilots: int, num_carriers: int) -> NDArray[np.complex64]:
    """[num_pilots, num_carriers] unit-power QPSK known to all."""
    signs = np.random.Generator(np.random.Philox(0)).integers(0, 2, (2, num_pilots, num_carriers))
    pilots = ((2 * signs[0] - 1 + 1j * (2 * signs[1] - 1)) / np.sqrt(2)).astype(np.complex64)
    pilots.setflags(write=False)
    return pilots


@lru_cache(maxsize=8)
def _delay_subspace(grid: OfdmGrid, num_taps: int) -> NDArray[np.complex64]:
    """[num_carriers, num_taps] orthonormal: the responses that so many taps can make."""
    if num_taps > grid.num_carriers:
        raise ValueError(
            f"num_taps = {num_taps} is not allowed: give at most the number of used carriers, "
            f"{grid.num_carriers}"
        )
    taps = np.arange(num_taps) - num_taps // 4
    waves = np.exp(-2j * np.pi / grid.fft_size * np.outer(grid.carriers, taps))
    return np.linalg.qr(waves)[0].astype(np.complex64)
