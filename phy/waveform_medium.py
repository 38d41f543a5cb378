"""The sampled medium: transmitters, the air, noise, and a receiver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from otafl._base.arrays import ComplexArray, FloatArray, Rng
from phy.air import FastAir
from phy.csi import Observed, qpsk_pilots
from phy.grid import OfdmGrid
from phy.impairments import Devices, Impairment, SlotContext
from phy.phasors import unit_phasors
from phy.randomness import complex_normal
from phy.sionna_air import SionnaAir
from phy.time_channel import TimeChannel
from phy.waveform import papr, squared_magnitude

CLEAR = 20.0  # energy of the pilots' sum over that of its noise: a phase error of 0.16 rad
SERVER = 1 << 62  # the server's index among the devices, which no client has


@dataclass
class Measured:
    """Measurements at the transmitters and the receive antenna, accumulated over slots.

    Attributes
    ----------
    energy, peak, clipped : ndarray of float, shape [num_clients]
        Energy and peak power of the samples sent, and the fraction clipped.
    papr : ndarray of float, shape [num_clients]
        PAPR of the first symbol, oversampled, in digital baseband; empty without impairments.
    arrived : float
        Energy at the antenna without noise.
    server_clipped : float
        Fraction of samples beyond the receiver's full scale.
    """

    energy: FloatArray
    peak: FloatArray
    clipped: FloatArray
    papr: FloatArray = field(default_factory=lambda: np.zeros(0))
    arrived: float = 0.0
    server_clipped: float = 0.0


@dataclass(frozen=True)
class WaveformMedium:
    """A block of OFDM symbols, sent slot by slot through hardware.

    Parameters
    ----------
    grid : OfdmGrid
        Numerology.
    num_symbols : int
        OFDM symbols of the block.
    air : FastAir or SionnaAir
        Modulator, channel and demodulator.
    transmit, receive : sequence of Impairment
        Impairments of clients and server, in signal-chain order.
    window_advance : int
        How early in the prefix the server's FFT begins [samples].
    clients, server : Devices
        Whose hardware it is.
    rms : ndarray of float, shape [num_clients]
        Root of the mean sample power that clients are allowed.
    """

    grid: OfdmGrid
    num_symbols: int
    air: FastAir | SionnaAir
    transmit: Sequence[Impairment]
    receive: Sequence[Impairment]
    window_advance: int
    clients: Devices
    server: Devices
    rms: FloatArray

    def carry(
        self, data: ComplexArray, gain: float, channel: TimeChannel, noise_std: float, rng: Rng
    ) -> tuple[ComplexArray, Measured]:
        """Carry a block from the clients to the server.

        Everything is in units of the gain, so that signals are of moderate size.

        Parameters
        ----------
        data : ndarray of complex64, shape [num_clients, num_symbols, num_carriers]
            Precoded elements at unit gain.
        gain : float
            Common gain of all signals.
        channel : TimeChannel
            The clients' channels.
        noise_std : float
            Root of N0, of a complex sample, divided by the gain.
        rng : numpy.random.Generator
            Source of the noise and of everything that is redrawn in every slot.

        Returns
        -------
        received : ndarray of complex64, shape [num_symbols, num_carriers]
            The gain removed.
        measured : Measured
        """
        rms = self.rms / gain
        measured = Measured(*np.zeros((3, len(data))))
        received = np.empty(data.shape[1:], np.complex64)
        for number, symbols in enumerate(self.grid.slots(self.num_symbols)):
            count = symbols.stop - symbols.start
            estimate = channel.of_slot(channel.estimate, number)
            elements = self._with_pilots(data[:, symbols], rms, estimate)
            heard = self._shortcut(elements, channel, measured)
            if heard is None:
                slot = self._at_clients(channel, number, count, rms, rng)
                samples = self._transmitted(elements, slot, number, measured)
                heard = self.air.propagate(samples, channel, number)
                heard = self._from_first_sample(heard, channel)
            measured.arrived += self._arrived(heard, channel, count)
            if noise_std > 0:
                heard += complex_normal(rng, heard.shape, noise_std)
            if self.receive:
                slot = self._at_server(heard, channel, count, rng)
                heard = _through(self.receive, heard[None], slot)[0]
                clipped = float(slot.largest_clip_rate[0])
                measured.server_clipped += count / self.num_symbols * clipped
            arrived = self._demodulated(heard, channel, count)
            received[symbols] = self._without_pilots(arrived, noise_std)
        return received, measured

    def transmitted(
        self, data: ComplexArray, gain: float, channel: TimeChannel, rng: Rng
    ) -> ComplexArray:
        """Return the samples that leave the clients' antennas, slot after slot, [num_clients, n].

        In units of the gain; parameters as in :meth:`carry`.
        """
        rms, samples = self.rms / gain, []
        for number, symbols in enumerate(self.grid.slots(self.num_symbols)):
            estimate = channel.of_slot(channel.estimate, number)
            elements = self._with_pilots(data[:, symbols], rms, estimate)
            slot = self._at_clients(channel, number, symbols.stop - symbols.start, rms, rng)
            samples.append(_through(self.transmit, self.air.modulate(elements), slot))
        return np.concatenate(samples, axis=1)

    def papr(self, data: ComplexArray, gain: float, channel: TimeChannel) -> FloatArray:
        """Return the PAPR of every symbol, [num_clients, num_symbols].

        Linear, oversampled, as the symbols leave digital baseband; parameters as in :meth:`carry`.
        """
        rms, ratios = self.rms / gain, []
        for number, symbols in enumerate(self.grid.slots(self.num_symbols)):
            estimate = channel.of_slot(channel.estimate, number)
            ratios.append(self._papr(self._with_pilots(data[:, symbols], rms, estimate), rms))
        return np.concatenate(ratios, axis=1)

    def _papr(self, elements: ComplexArray, rms: FloatArray) -> FloatArray:
        for impairment in self.transmit:
            elements = impairment.shape(self.grid, elements, rms)
        return papr(self.grid, elements)

    def observed_through_hardware(
        self, observed: Observed, channel: TimeChannel, rng: Rng
    ) -> Observed:
        """Return what clients observe of their channels through their and the server's hardware.

        Each client alone sends a symbol of pilots at its budgeted power, without noise.
        """
        factor = self._hardware_response(channel, rng)
        return Observed(
            observed.grid,
            observed.path_gain,
            lambda delay: observed.response_before(delay) * factor,
        )

    def _hardware_response(self, channel: TimeChannel, rng: Rng) -> ComplexArray:
        """Return the factor on the response, [num_clients, 1, used carriers], one if nothing."""
        used = len(self.grid.used_carriers)
        amplitude = (self.rms * np.sqrt(self.grid.fft_size / used)).astype(np.float32)
        sent = amplitude[:, None, None] * qpsk_pilots(1, used)
        slot = self._at_clients(channel, 0, 1, self.rms, rng)
        samples = self.air.modulate(sent)
        clean = self.air.propagate(samples, channel, 0, add=False)
        samples = _through(self.transmit, samples, slot)
        alone = self.air.propagate(samples, channel, 0, add=False)
        heard = [
            _through(self.receive, each[None], self._at_server(each, channel, 1, rng))[0]
            for each in self._from_first_sample(alone, channel)
        ]
        expected = self._demodulated(self._from_first_sample(clean, channel), channel, 1)
        arrived = self._demodulated(np.stack(heard), channel, 1)
        return np.divide(arrived, expected, out=np.ones_like(arrived), where=expected != 0)

    def _shortcut(
        self, elements: ComplexArray, channel: TimeChannel, measured: Measured
    ) -> ComplexArray | None:
        """Return what comes to the antenna without noise, if there is a shortcut."""
        if self.transmit or self.receive:
            return None
        short = self.air.shortcut(elements, channel, self.window_advance)
        if short is None:
            return None
        heard, power = short
        prefix = power[..., self.grid.fft_size - self.grid.cp_length :]
        measured.energy += power.sum(axis=(1, 2), dtype=float) + prefix.sum(
            axis=(1, 2), dtype=float
        )
        measured.peak = np.maximum(measured.peak, power.max(axis=(1, 2)))
        return self._from_first_sample(heard, channel)

    def _transmitted(
        self, elements: ComplexArray, slot: SlotContext, number: int, measured: Measured
    ) -> ComplexArray:
        """Return what leaves the clients' antennas."""
        samples = _through(self.transmit, self.air.modulate(elements), slot)
        if self.transmit and number == 0:
            measured.papr = self._papr(elements[:, :1], slot.rms)[:, 0]
        power = squared_magnitude(samples)
        measured.energy += power.sum(axis=1, dtype=float)
        measured.peak = np.maximum(measured.peak, power.max(axis=1))
        measured.clipped += slot.num_symbols / self.num_symbols * slot.largest_clip_rate
        return samples

    def _at_clients(
        self, channel: TimeChannel, number: int, count: int, rms: FloatArray, rng: Rng
    ) -> SlotContext:
        response, estimate = (
            channel.of_slot(each, number) * self.air.amplitude[:, None]
            for each in (channel.response, channel.estimate)
        )
        return SlotContext(self.grid, count, rms, self.clients, rng, response, estimate)

    def first_sample(self, channel: TimeChannel) -> int:
        """Return when the server begins to listen [samples], zero or before.

        Pulses of fractional delays begin before time zero. The server's FFT takes in as much of
        that as the prefix has to spare beyond the last path; in a short prefix, the start of the
        pulses is the smaller loss.
        """
        prefix = self.grid.cp_length - self.window_advance
        return -channel.lags.spare(prefix) - self.window_advance

    def _from_first_sample(self, heard: ComplexArray, channel: TimeChannel) -> ComplexArray:
        """Return what arrives from the first lag on as the server listens to it."""
        early = channel.lags.first - self.first_sample(channel)
        if early <= 0:
            return heard[..., -early:]
        silence = np.zeros((*heard.shape[:-1], early), np.complex64)
        return np.concatenate([silence, heard], axis=-1)

    def _windows(self, heard: ComplexArray, count: int) -> ComplexArray:
        """Return what the server's FFTs take in."""
        whole = heard[: count * self.grid.symbol_length].reshape(count, -1)
        return whole[:, self.grid.cp_length :]

    def _arrived(self, heard: ComplexArray, channel: TimeChannel, count: int) -> float:
        """Return the energy on the data carriers, which without pilots is all there is."""
        if not self.grid.pilots:
            return float(squared_magnitude(self._windows(heard, count)).sum(dtype=float))
        elements = self._demodulated(heard, channel, count)[..., ~self.grid.is_pilot]
        return float(squared_magnitude(elements).sum(dtype=float))

    def _at_server(
        self, heard: ComplexArray, channel: TimeChannel, count: int, rng: Rng
    ) -> SlotContext:
        """Set the server's hardware up for what arrives, as gain control does."""
        rms = np.array(
            [math.sqrt(squared_magnitude(self._windows(heard, count)).mean(dtype=float))]
        )
        return SlotContext(
            self.grid, count, rms, self.server, rng, start=self.first_sample(channel)
        )

    def _demodulated(self, heard: ComplexArray, channel: TimeChannel, count: int) -> ComplexArray:
        return self.air.demodulate(heard, self.first_sample(channel), count)

    def _with_pilots(
        self, data: ComplexArray, rms: FloatArray, estimate: ComplexArray
    ) -> ComplexArray:
        """Add pilots of the budgeted mean power beside the data, turned to arrive at phase zero."""
        if not self.grid.pilots:
            return data
        is_pilot = self.grid.is_pilot
        elements = np.empty((*data.shape[:2], len(is_pilot)), np.complex64)
        elements[..., ~is_pilot] = data
        amplitude = (rms * np.sqrt(self.grid.fft_size / self.grid.num_carriers)).astype(np.float32)
        turned = unit_phasors(estimate[:, is_pilot]).conj() * qpsk_pilots(1, self.grid.pilots)
        elements[..., is_pilot] = (amplitude[:, None] * turned)[:, None]
        return elements

    def _without_pilots(self, elements: ComplexArray, noise_std: float) -> ComplexArray:
        """Derotate each symbol by its pilots' common phase, if the pilot SNR suffices."""
        if not self.grid.pilots:
            return elements
        is_pilot = self.grid.is_pilot
        pilots = (elements[..., is_pilot] * qpsk_pilots(1, self.grid.pilots).conj()).sum(axis=-1)
        clear = np.abs(pilots) > math.sqrt(CLEAR * self.grid.pilots) * noise_std
        turn = np.where(clear, unit_phasors(pilots).conj(), np.complex64(1))
        return elements[..., ~is_pilot] * turn[..., None]


def _through(
    impairments: Sequence[Impairment], samples: ComplexArray, slot: SlotContext
) -> ComplexArray:
    """Pass samples through all impairments, one after another."""
    for impairment in impairments:
        out = np.ascontiguousarray(impairment.apply(samples, slot), np.complex64)
        if out.shape != samples.shape:
            raise ValueError(
                f"{type(impairment).__name__}.apply must return as many samples as it is given, "
                f"{samples.shape}, got {out.shape}"
            )
        samples = out
    return samples
