"""All clients' way to the server in samples: transmitters, the air, noise, and a receiver."""

from __future__ import annotations

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
from phy.waveform import demodulate, papr, symbol_length


class Hardware(NamedTuple):
    """Whose faults a trial has."""

    clients: Devices
    server: Devices


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
        nothing = np.zeros(len(data))
        measured = Measured(nothing.copy(), nothing.copy(), nothing.copy())
        received = np.empty(data.shape[1:], np.complex64)
        for number, symbols in enumerate(self.bursts):
            look = self._look_at(channel, number, symbols)
            elements = self._with_pilots(data[:, symbols], rms, look.estimate)
            burst = Burst(
                self.grid, elements.shape[1], rms, hardware.clients, rng, look.response, look.estimate
            )
            samples = self._transmitted(elements, burst, measured)
            heard = self.air.propagate(samples, channel, number)
            measured.arrived += float(_energy(heard))
            heard = self._waited(heard)
            if noise_std > 0:
                heard += complex_normal(rng, heard.shape, noise_std)
            heard, notes = self._through_receiver(heard[None], hardware.server, elements.shape[1], rng)
            share = elements.shape[1] / self.num_symbols
            measured.server_clipped += share * float(notes.get("clip_rate", nothing)[0])
            measured.clipped += share * burst.notes.get("clip_rate", 0.0)
            first = channel.lags.first - self.window_advance
            arrived = self.air.demodulate(heard[0], first, elements.shape[1])
            received[symbols] = self._without_pilots(arrived)
        return received, measured

    def seen_through_faults(
        self,
        rms: NDArray[np.float64],
        channel: TimeChannel,
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> NDArray[np.complex64]:
        """What hardware makes of the response, [num_clients, 1, used carriers], one if nothing.

        Each client alone sends a symbol of pilots at its budgeted power.
        """
        look = self._look_at(channel, 0, slice(0, 1))
        used = len(self.grid.used_carriers)
        amplitude = (rms * np.sqrt(self.grid.fft_size / used)).astype(np.float32)
        sent = qpsk_pilots(1, used) * amplitude[:, None, None]
        burst = Burst(self.grid, 1, rms, hardware.clients, rng, look.response, look.estimate)
        samples = self.air.modulate(sent)
        for fault in self.transmit:
            samples = fault.apply(samples, burst)
        heard = self._waited(self.air.propagate(samples, channel, 0, add=False))
        arrived = np.stack(
            [self._through_receiver(each[None], hardware.server, 1, rng)[0][0] for each in heard]
        )
        first = channel.lags.first - self.window_advance
        elements = self.air.demodulate(arrived, first, 1)
        expected = sent * (self.air.amplitude[:, None, None] * look.response[:, None])
        factor = np.ones_like(elements)
        return np.divide(elements, expected, out=factor, where=np.abs(expected) > 0)

    def _look_at(self, channel: TimeChannel, number: int, symbols: slice) -> _Look:
        """The clients' look at the channel for a burst."""
        looks = channel.response.shape[1]
        which = 0 if looks == 1 else symbols.start if looks == self.num_symbols else number
        return _Look(channel.response[:, which], channel.estimate[:, which])

    def _transmitted(
        self, elements: NDArray[np.complex64], burst: Burst, measured: Measured
    ) -> NDArray[np.complex64]:
        samples = self.air.modulate(elements)
        digital = elements[:, 0]
        for fault in self.transmit:
            samples = fault.apply(samples, burst)
            if isinstance(fault, ClipAndFilter):
                digital = demodulate(self.grid, samples, 0, 1)[:, 0]
        if not len(measured.papr):
            measured.papr = papr(self.grid, digital)
        power = np.square(np.abs(samples))
        measured.energy += power.sum(axis=1, dtype=np.float64)
        measured.peak = np.maximum(measured.peak, power.max(axis=1))
        return samples

    def _waited(self, heard: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """The server listens before the first sample could arrive."""
        if not self.window_advance:
            return heard
        return np.concatenate(
            [np.zeros((*heard.shape[:-1], self.window_advance), np.complex64), heard], axis=-1
        )

    def _through_receiver(
        self, heard: NDArray[np.complex64], server: Devices, num_symbols: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.complex64], dict[str, NDArray[np.float64]]]:
        """``[1, n]``, as gain control sets it up for what arrives."""
        rms = np.sqrt(_energy(heard) / heard.shape[1])
        burst = Burst(self.grid, num_symbols, np.array([rms]), server, rng)
        for fault in self.receive:
            heard = fault.apply(heard, burst)
        return heard, burst.notes

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
        turned = phases_of(estimate[:, is_pilot]).conj() * qpsk_pilots(1, self.grid.pilots)
        elements[..., is_pilot] = (amplitude[:, None] * turned)[:, None]
        return elements

    def _without_pilots(self, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """Each symbol turned back by the phase that its pilots have in common."""
        if not self.grid.pilots:
            return elements
        is_pilot = self.grid.is_pilot
        pilots = (elements[..., is_pilot] * qpsk_pilots(1, self.grid.pilots).conj()).sum(axis=-1)
        return elements[..., ~is_pilot] * phases_of(pilots).conj()[..., None]


class _Look(NamedTuple):
    response: NDArray[np.complex64]
    estimate: NDArray[np.complex64]


def _energy(samples: NDArray[np.complex64]) -> np.float64:
    return np.square(samples.view(np.float32)).sum(dtype=np.float64)
