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
        measured = Measured(*np.zeros((3, len(data))))
        received = np.empty(data.shape[1:], np.complex64)
        for number, symbols in enumerate(self.bursts):
            count = symbols.stop - symbols.start
            response, estimate = self._looks(channel, number, symbols)
            elements = self._with_pilots(data[:, symbols], rms, estimate)
            burst = Burst(
                self.grid, count, rms, hardware.clients, rng, response[:, 0], estimate[:, 0]
            )
            heard = self._heard(elements, channel, number, burst, measured)
            measured.arrived += float(power_of(self._windows(heard, count)).sum())
            if noise_std > 0:
                heard += complex_normal(rng, heard.shape, noise_std)
            if self.receive:
                at_server = self._at_server(heard, count, hardware, rng)
                heard = self._through_receiver(heard, at_server)
                clipped = float(at_server.notes.get("clip_rate", np.zeros(1))[0])
                measured.server_clipped += count / self.num_symbols * clipped
            received[symbols] = self._without_pilots(self._demodulated(heard, channel, count))
        return received, measured

    def papr(
        self,
        data: NDArray[np.complex64],
        rms: NDArray[np.float64],
        channel: TimeChannel,
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """[num_clients, num_symbols], oversampled, as symbols leave digital baseband."""
        ratios = []
        for number, symbols in enumerate(self.bursts):
            _, estimate = self._looks(channel, number, symbols)
            elements = self._with_pilots(data[:, symbols], rms, estimate)
            burst = Burst(self.grid, elements.shape[1], rms, hardware.clients, rng)
            ratios.append(papr(self.grid, self._digital(elements, burst)))
        return np.concatenate(ratios, axis=1)

    def _digital(self, elements: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        """As they are before the first analog part."""
        if self.transmit and isinstance(self.transmit[0], ClipAndFilter):
            return self.transmit[0].clipped(elements, burst)
        return elements

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
        response, estimate = self._looks(channel, 0, slice(0, 1))
        used = len(self.grid.used_carriers)
        amplitude = (rms * np.sqrt(self.grid.fft_size / used)).astype(np.float32)
        sent = amplitude[:, None, None] * qpsk_pilots(1, used)
        burst = Burst(self.grid, 1, rms, hardware.clients, rng, response[:, 0], estimate[:, 0])
        samples = self.air.modulate(sent)
        for fault in self.transmit:
            samples = fault.apply(samples, burst)
        alone = self._waited(self.air.propagate(samples, channel, 0, add=False))
        heard = [
            self._through_receiver(each, self._at_server(each, 1, hardware, rng)) for each in alone
        ]
        arrived = self._demodulated(np.stack(heard), channel, 1)
        expected = sent * (self.air.amplitude[:, None, None] * response)
        return np.divide(arrived, expected, out=np.ones_like(arrived), where=expected != 0)

    def _looks(
        self, channel: TimeChannel, number: int, symbols: slice
    ) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]:
        """Response and estimate for the symbols of a burst, [num_clients, 1 or symbols, used]."""
        looks = channel.response.shape[1]
        which = slice(number, number + 1)
        if looks == 1:
            which = slice(0, 1)
        elif looks == self.num_symbols:
            which = symbols
        return channel.response[:, which], channel.estimate[:, which]

    def _heard(
        self,
        elements: NDArray[np.complex64],
        channel: TimeChannel,
        number: int,
        burst: Burst,
        measured: Measured,
    ) -> NDArray[np.complex64]:
        """What comes to the antenna without noise, from when the server listens."""
        if not self.transmit and not self.receive:
            short = self.air.clean(elements, channel, self.window_advance)
            if short is not None:
                heard, power = short
                measured.energy += power.sum(axis=(1, 2))
                prefix = power[..., self.grid.fft_size - self.grid.cp_length :]
                measured.energy += prefix.sum(axis=(1, 2))
                measured.peak = np.maximum(measured.peak, power.max(axis=(1, 2)))
                return self._waited(heard)
        samples = self.air.modulate(elements)
        for fault in self.transmit:
            samples = fault.apply(samples, burst)
        if self.transmit and number == 0:
            measured.papr = papr(self.grid, self._digital(elements[:, :1], burst))[:, 0]
        power = power_of(samples)
        measured.energy += power.sum(axis=1)
        measured.peak = np.maximum(measured.peak, power.max(axis=1))
        measured.clipped += burst.num_symbols / self.num_symbols * burst.notes.get("clip_rate", 0.0)
        return self._waited(self.air.propagate(samples, channel, number))

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

    def _at_server(
        self,
        heard: NDArray[np.complex64],
        count: int,
        hardware: Hardware,
        rng: np.random.Generator,
    ) -> Burst:
        """Gain control sets the server's hardware up for what arrives."""
        rms = np.array([math.sqrt(power_of(self._windows(heard, count)).mean())])
        return Burst(self.grid, count, rms, hardware.server, rng)

    def _through_receiver(
        self, heard: NDArray[np.complex64], burst: Burst
    ) -> NDArray[np.complex64]:
        samples = heard[None]
        for fault in self.receive:
            samples = fault.apply(samples, burst)
        return samples[0]

    def _demodulated(
        self, heard: NDArray[np.complex64], channel: TimeChannel, count: int
    ) -> NDArray[np.complex64]:
        return self.air.demodulate(heard, channel.lags.first - self.window_advance, count)

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

    def _without_pilots(self, elements: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """Each symbol turned back by the phase that its pilots have in common."""
        if not self.grid.pilots:
            return elements
        is_pilot = self.grid.is_pilot
        pilots = (elements[..., is_pilot] * qpsk_pilots(1, self.grid.pilots).conj()).sum(axis=-1)
        return elements[..., ~is_pilot] * phases_of(pilots).conj()[..., None]
