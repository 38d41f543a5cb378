"""All clients' way to the server in samples: transmitters, the air, noise, and a receiver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phy.air import FastAir
from phy.csi import qpsk_pilots
from phy.grid import OfdmGrid
from phy.impairments import Burst, ClipAndFilter, Devices, Impairment
from phy.phasors import phases_of
from phy.randomness import complex_normal
from phy.sionna_air import SionnaAir
from phy.time_channel import TimeChannel
from phy.waveform import papr, power_of, symbol_length

CLEAR = 20.0  # energy of the pilots' sum over that of its noise: a phase error of 0.16 rad


class Hardware(NamedTuple):
    """Whose faults a trial has."""

    clients: Devices
    server: Devices


class Looks(NamedTuple):
    """The channels of a burst, [num_clients, 1 or symbols of the burst, used carriers] each."""

    response: NDArray[np.complex64]
    estimate: NDArray[np.complex64]


@dataclass
class Measured:
    """What meters at the transmitters and at the antenna show, added up burst by burst.

    energy, peak, clipped : [num_clients], of the samples sent
    papr : [num_clients], of the first symbol, oversampled, as it leaves digital baseband
    arrived : energy at the antenna without noise
    server_clipped : part of the samples that were beyond the receiver's full scale
    """

    energy: NDArray[np.float64]
    peak: NDArray[np.float64]
    clipped: NDArray[np.float64]
    papr: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    arrived: float = 0.0
    server_clipped: float = 0.0


@dataclass(frozen=True)
class WaveformUplink:
    """A block of ``num_symbols`` OFDM symbols, sent slot by slot, through hardware.

    air : modulator, channel and demodulator
    transmit, receive : faults, in their order
    window_advance : how early in the prefix the server's FFT begins [samples]
    """

    grid: OfdmGrid
    num_symbols: int
    air: FastAir | SionnaAir
    transmit: Sequence[Impairment]
    receive: Sequence[Impairment]
    window_advance: int

    @property
    def bursts(self) -> list[slice]:
        """Symbols of each slot."""
        length = self.grid.symbols_per_slot
        starts = range(0, self.num_symbols, length)
        return [slice(start, min(start + length, self.num_symbols)) for start in starts]

    def carry(
        self,
        data: NDArray[np.complex64],
        rms: NDArray[np.float64],
        channel: TimeChannel,
        hardware: Hardware,
        noise_std: float,
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.complex64], Measured]:
        """``[num_clients, num_symbols, num_carriers]`` as sent, to ``[num_symbols, num_carriers]``.

        rms : [num_clients], the root of the mean sample power that clients are allowed
        noise_std : root of N0, of a complex sample
        """
        measured = Measured(*np.zeros((3, len(data))))
        received = np.empty(data.shape[1:], np.complex64)
        for number, symbols in enumerate(self.bursts):
            count = symbols.stop - symbols.start
            looks = self._looks(channel, number, symbols)
            elements = self._with_pilots(data[:, symbols], rms, looks.estimate)
            heard = self._clean(elements, channel, measured)
            if heard is None:
                burst = self._at_clients(looks, count, rms, hardware, rng)
                samples = self._transmitted(elements, burst, number, measured)
                heard = self._waited(self.air.propagate(samples, channel, number))
            measured.arrived += self._arrived(heard, channel, count)
            if noise_std > 0:
                heard += complex_normal(rng, heard.shape, noise_std)
            if self.receive:
                at_server = self._at_server(heard, channel, count, hardware, rng)
                heard = _through(self.receive, heard[None], at_server)[0]
                clipped = float(at_server.notes.get("clip_rate", np.zeros(1))[0])
                measured.server_clipped += count / self.num_symbols * clipped
            arrived = self._demodulated(heard, channel, count)
            received[symbols] = self._without_pilots(arrived, noise_std)
        return received, measured

    def papr(
        self,
        data: NDArray[np.complex64],
        rms: NDArray[np.float64],
        channel: TimeChannel,
    ) -> NDArray[np.float64]:
        """[num_clients, num_symbols], oversampled, as symbols leave digital baseband."""
        ratios = []
        for number, symbols in enumerate(self.bursts):
            looks = self._looks(channel, number, symbols)
            elements = self._with_pilots(data[:, symbols], rms, looks.estimate)
            ratios.append(self._papr(elements, rms))
        return np.concatenate(ratios, axis=1)

    def _papr(
        self, elements: NDArray[np.complex64], rms: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.transmit and isinstance(self.transmit[0], ClipAndFilter):
            elements = self.transmit[0].clipped(self.grid, elements, rms)
        return papr(self.grid, elements)

    def seen_through_faults(
        self,
        rms: NDArray[np.float64],
        channel: TimeChannel,
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        """What hardware makes of the response, [num_clients, 1, used carriers], one if nothing.

        Each client alone sends a symbol of pilots at its budgeted power, without noise.
        """
        looks = self._looks(channel, 0, slice(0, 1))
        used = len(self.grid.used_carriers)
        amplitude = (rms * np.sqrt(self.grid.fft_size / used)).astype(np.float32)
        sent = amplitude[:, None, None] * qpsk_pilots(1, used)
        burst = self._at_clients(looks, 1, rms, hardware, rng)
        samples = self.air.modulate(sent)
        clean = self._waited(self.air.propagate(samples, channel, 0, add=False))
        samples = _through(self.transmit, samples, burst)
        alone = self._waited(self.air.propagate(samples, channel, 0, add=False))
        heard = [
            _through(self.receive, each[None], self._at_server(each, channel, 1, hardware, rng))[0]
            for each in alone
        ]
        expected = self._demodulated(clean, channel, 1)
        arrived = self._demodulated(np.stack(heard), channel, 1)
        return np.divide(arrived, expected, out=np.ones_like(arrived), where=expected != 0)

    def _looks(self, channel: TimeChannel, number: int, symbols: slice) -> Looks:
        looks = channel.response.shape[1]
        which = slice(number, number + 1)
        if looks == 1:
            which = slice(0, 1)
        elif looks == self.num_symbols:
            which = symbols
        return Looks(channel.response[:, which], channel.estimate[:, which])

    def _clean(
        self, elements: NDArray[np.complex64], channel: TimeChannel, measured: Measured
    ) -> NDArray[np.complex64] | None:
        """What comes to the antenna without faults and noise, if there is a short way."""
        if self.transmit or self.receive:
            return None
        short = self.air.clean(elements, channel, self.window_advance)
        if short is None:
            return None
        heard, power = short
        prefix = power[..., self.grid.fft_size - self.grid.cp_length :]
        measured.energy += power.sum(axis=(1, 2)) + prefix.sum(axis=(1, 2))
        measured.peak = np.maximum(measured.peak, power.max(axis=(1, 2)))
        return self._waited(heard)

    def _transmitted(
        self,
        elements: NDArray[np.complex64],
        burst: Burst,
        number: int,
        measured: Measured,
    ) -> NDArray[np.complex64]:
        """What leaves the clients' antennas."""
        samples = _through(self.transmit, self.air.modulate(elements), burst)
        if self.transmit and number == 0:
            measured.papr = self._papr(elements[:, :1], burst.rms)[:, 0]
        power = power_of(samples)
        measured.energy += power.sum(axis=1)
        measured.peak = np.maximum(measured.peak, power.max(axis=1))
        measured.clipped += burst.num_symbols / self.num_symbols * burst.notes.get("clip_rate", 0.0)
        return samples

    def _at_clients(
        self,
        looks: Looks,
        count: int,
        rms: NDArray[np.float64],
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> Burst:
        amplitude = self.air.amplitude[:, None]
        response, estimate = (each[:, 0] * amplitude for each in looks)
        return Burst(self.grid, count, rms, hardware.clients, rng, response, estimate)

    def _waited(self, heard: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """The server listens before the first sample could arrive."""
        if not self.window_advance:
            return heard
        silence = np.zeros((*heard.shape[:-1], self.window_advance), np.complex64)
        return np.concatenate([silence, heard], axis=-1)

    def _windows(self, heard: NDArray[np.complex64], count: int) -> NDArray[np.complex64]:
        """What the server's FFTs take in."""
        return heard[: count * symbol_length(self.grid)].reshape(count, -1)[
            :, self.grid.cp_length :
        ]

    def _arrived(self, heard: NDArray[np.complex64], channel: TimeChannel, count: int) -> float:
        """Energy on the carriers of data, which without pilots is all that there is."""
        if not self.grid.pilots:
            return float(power_of(self._windows(heard, count)).sum())
        elements = self._demodulated(heard, channel, count)[..., ~self.grid.is_pilot]
        return float(power_of(elements).sum())

    def _at_server(
        self,
        heard: NDArray[np.complex64],
        channel: TimeChannel,
        count: int,
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> Burst:
        """Gain control sets the server's hardware up for what arrives."""
        rms = np.array([math.sqrt(power_of(self._windows(heard, count)).mean())])
        return Burst(self.grid, count, rms, hardware.server, rng, start=self._first(channel))

    def _first(self, channel: TimeChannel) -> int:
        """When the server begins to listen [samples]."""
        return channel.lags.first - self.window_advance

    def _demodulated(
        self, heard: NDArray[np.complex64], channel: TimeChannel, count: int
    ) -> NDArray[np.complex64]:
        return self.air.demodulate(heard, self._first(channel), count)

    def _with_pilots(
        self, data: NDArray[np.complex64], rms: NDArray[np.float64], estimate: NDArray[np.complex64]
    ) -> NDArray[np.complex64]:
        """Beside the data, pilots of the budgeted mean power, turned to arrive at phase zero."""
        if not self.grid.pilots:
            return data
        is_pilot = self.grid.is_pilot
        elements = np.empty((*data.shape[:2], len(is_pilot)), np.complex64)
        elements[..., ~is_pilot] = data
        amplitude = (rms * np.sqrt(self.grid.fft_size / self.grid.num_carriers)).astype(np.float32)
        turned = phases_of(estimate[..., is_pilot]).conj() * qpsk_pilots(1, self.grid.pilots)
        elements[..., is_pilot] = amplitude[:, None, None] * turned
        return elements

    def _without_pilots(
        self, elements: NDArray[np.complex64], noise_std: float
    ) -> NDArray[np.complex64]:
        """Each symbol turned back by the phase that its pilots have in common, if that is clear."""
        if not self.grid.pilots:
            return elements
        is_pilot = self.grid.is_pilot
        pilots = (elements[..., is_pilot] * qpsk_pilots(1, self.grid.pilots).conj()).sum(axis=-1)
        clear = np.abs(pilots) > math.sqrt(CLEAR * self.grid.pilots) * noise_std
        turn = np.where(clear, phases_of(pilots).conj(), np.complex64(1))
        return elements[..., ~is_pilot] * turn[..., None]


def _through(
    faults: Sequence[Impairment], samples: NDArray[np.complex64], burst: Burst
) -> NDArray[np.complex64]:
    """All faults, one after another."""
    for fault in faults:
        out = np.ascontiguousarray(fault.apply(samples, burst), np.complex64)
        if out.shape != samples.shape:
            raise ValueError(
                f"{type(fault).__name__}.apply gives samples of shape {out.shape} for "
                f"{samples.shape}: give as many"
            )
        samples = out
    return samples
