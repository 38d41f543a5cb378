"""WaveformLink against a reference of plain loops and float64, which shares none of its code.

The fading is asked for at every sample, convolution is the sum that defines it, and pulses, slots,
the instants of CSI, masks and pilots are worked out here.
"""

from __future__ import annotations

import numpy as np
import pytest

from links import WaveformLink
from phy import AgedCsi, OfdmGrid, PilotCsi, Rayleigh, Tdl
from phy.csi import qpsk_pilots
from phy.impairments import CarrierOffset, IqImbalance, SoftLimiter, TimingOffset

CLIENTS, TIME = [6, 1, 4], 2.5
POWER = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
PATH_GAIN = np.array([0.5, 1, 2, 0.1, 1, 3, 1, 2])
OFFSET = np.array([0.01, -0.03, 0.05, 0.0, 0.02, 0.1, -0.1, 0.03])
IQ_DB = np.linspace(0.1, 0.8, 8)
IQ_DEGREES = np.array([1.0, 2, 3, 4, 5, -5, -3, 1])
LATE = np.array([1, 2, 3, -2, 5, -1, 0, 3])
BACKOFF_DB = 3.0
IMPAIRMENTS = (
    IqImbalance(IQ_DB, IQ_DEGREES),
    CarrierOffset(OFFSET),
    SoftLimiter(BACKOFF_DB),
    TimingOffset(LATE),
)


class Reference:
    def __init__(self, link, uplink, device_rng):
        self.link, self.grid, self.medium = link, link.grid, uplink.medium
        grid, fading = link.grid, link.fading
        self.size, self.cp, self.rate = grid.fft_size, grid.cp_length, grid.sampling_rate
        self.length = self.size + self.cp
        last = int(np.ceil(fading.delays.max() * self.rate - 1e-6))
        flat = fading.delays.max() == 0
        self.lags = np.arange(0 if flat else -13, last + (1 if flat else 14))
        away = self.lags - fading.delays[:, None] * self.rate
        window = np.i0(4.3 * np.sqrt(np.maximum(1 - np.square(away / 14), 0))) / np.i0(4.3)
        self.pulses = np.where(np.abs(away) < 14, np.sinc(away) * window, 0)
        self.device_rng = device_rng

    def gains(self, times):
        fading = self.link.fading
        if not fading.moving:
            return np.repeat(self.medium.channel.gains[0][:, :1], len(times), axis=1)
        return fading.draw(
            np.array(CLIENTS), times, np.random.default_rng(0), self.device_rng
        ).gains

    def total(self, signals, gain):
        grid, packing = self.grid, self.medium.packing
        elements = packing.pack(signals).astype(complex)
        received = np.zeros(elements.shape[1:], complex)
        pilots = self.link.csi.pilots_per_slot
        for number, start in enumerate(range(0, packing.num_symbols, grid.symbols_per_slot)):
            symbols = slice(start, min(start + grid.symbols_per_slot, packing.num_symbols))
            period = (grid.symbols_per_slot + pilots) * self.length
            begin = TIME + (number * period + pilots * self.length) / self.rate
            received[symbols] = self.one_slot(
                elements[:, symbols] * gain, begin, elements.shape[1:], number
            )
        return packing.unpack((received / gain).astype(np.complex64))

    def one_slot(self, elements, begin, block, number):
        grid, used = self.grid, self.grid.used_carriers
        response = self.seen(elements.shape[1], begin)
        strength = np.abs(response) ** 2
        active = strength > self.link.truncation
        # on which side of the threshold float32 rounds a carrier that is on it, the link decides
        slots = self.medium.precoding.active
        decided = slots[:, min(number, slots.shape[1] - 1)][:, None]
        on_it = np.isclose(strength, self.link.truncation, rtol=1e-4)
        active = np.where(on_it, np.broadcast_to(decided, active.shape), active)
        inverse = np.where(active, 1 / response, 0) / np.sqrt(PATH_GAIN[CLIENTS])[:, None, None]
        sent = np.zeros((*elements.shape[:2], len(used)), complex)
        sent[..., ~grid.is_pilot] = elements * inverse[..., ~grid.is_pilot]
        known = qpsk_pilots(1, grid.pilots)
        on_pilots = response[..., grid.is_pilot]
        level = np.sqrt(POWER[CLIENTS] / np.prod(block))[:, None, None]
        sent[..., grid.is_pilot] = level * on_pilots.conj() / np.abs(on_pilots) * known

        heard = self.air(self.transmitted(sent, block[0]), begin, elements.shape[1])
        windows = heard.reshape(-1, self.length)[:, self.cp :]
        arrived = np.fft.fft(windows, norm="ortho")[:, used % self.size]
        arrived *= np.exp(-2j * np.pi * used * self.first / self.size)
        if grid.pilots:
            phase = np.angle((arrived[:, grid.is_pilot] * known.conj()).sum(axis=1))
            arrived *= np.exp(-1j * phase)[:, None]
        arrived, share = arrived[:, ~grid.is_pilot], active[..., ~grid.is_pilot].mean(axis=0)
        return np.divide(arrived, share, out=np.zeros_like(arrived), where=share > 0)

    @property
    def first(self):
        """The server listens as early as the prefix has samples to spare, and pulses need it."""
        advance = self.link.window_advance
        last_path = int(np.ceil(self.link.fading.delays.max() * self.rate - 1e-6))
        spare = max(self.cp - advance - last_path, 0)
        return -min(spare, -int(self.lags[0])) - advance

    def seen(self, count, begin):
        """What clients look at: once per slot, in the middle of its data."""
        [delay] = self.link.csi.delays
        gains = self.gains(begin + np.array([count * self.length / 2]) / self.rate - delay)
        turns = np.outer(self.lags, self.grid.used_carriers) / self.size
        return gains @ self.pulses @ np.exp(-2j * np.pi * turns)

    def transmitted(self, sent, num_symbols):
        bins = np.zeros((*sent.shape[:2], self.size), complex)
        bins[..., self.grid.used_carriers % self.size] = sent
        body = np.fft.ifft(bins, norm="ortho")
        samples = np.concatenate([body[..., self.size - self.cp :], body], axis=-1)
        samples = samples.reshape(len(sent), -1)
        if not self.link.transmit:
            return samples
        turned = 10 ** (IQ_DB / 20) * np.exp(1j * np.deg2rad(IQ_DEGREES))
        samples = samples.real + 1j * samples.imag * turned[CLIENTS, None]
        turns = np.outer(OFFSET[CLIENTS], np.arange(samples.shape[1])) / self.size
        samples = samples * np.exp(2j * np.pi * turns)
        rms = np.sqrt(POWER[CLIENTS] / (num_symbols * self.size))
        level = (rms * 10 ** (BACKOFF_DB / 20))[:, None]
        samples = samples * np.minimum(1, level / np.maximum(np.abs(samples), 1e-300))
        for place, late in enumerate(LATE[CLIENTS]):
            moved = np.roll(samples[place], late)
            moved[: max(late, 0)] = 0
            moved[len(moved) + min(late, 0) :] = 0
            samples[place] = moved
        return samples

    def air(self, samples, begin, count):
        times = np.arange(self.first, self.first + count * self.length)
        taps = self.gains(begin + times / self.rate) @ self.pulses
        taps = taps * np.sqrt(PATH_GAIN[CLIENTS])[:, None, None]
        heard = np.zeros(len(times), complex)
        for place, lag in enumerate(self.lags):
            source = times - lag
            inside = (source >= 0) & (source < samples.shape[1])
            heard[inside] += (taps[:, inside, place] * samples[:, source[inside]]).sum(axis=0)
        return heard


@pytest.mark.parametrize("advance", [0, 7])
@pytest.mark.parametrize("impairments", [(), IMPAIRMENTS], ids=["clean", "impaired"])
@pytest.mark.parametrize(
    "grid",
    [
        OfdmGrid(fft_size=127, cp_length=40, guards=(3, 9), symbols_per_slot=4, pilots=5),
        OfdmGrid(fft_size=128, cp_length=9, guards=(10, 0), dc_null=False, symbols_per_slot=3),
    ],
    ids=["odd, with pilots", "short prefix"],
)
@pytest.mark.parametrize(
    "options",
    [
        {"fading": Tdl("C", delay_spread=100e-9, speed=40.0)},
        {
            "fading": Tdl("D", delay_spread=300e-9, speed=90.0),
            "csi": PilotCsi(snr_db=np.inf, num_pilots=2),
        },
        {"fading": Tdl("A", delay_spread=50e-9, speed=3.0), "csi": AgedCsi(1e-4)},
        {"fading": Rayleigh(speed=30.0)},
        {"fading": Tdl("B")},
    ],
    ids=str,
)
def test_a_block_of_several_slots(options, grid, impairments, advance, rng):
    link = WaveformLink(
        grid=grid,
        snr_db=np.inf,
        transmit=impairments,
        window_advance=advance,
        correction="active",
        truncation=0.1,
        budget="round",
        power=POWER,
        path_gain=PATH_GAIN,
        **options,
    )
    device_rng = np.random.default_rng(int(rng.integers(2**32)))
    signals = rng.standard_normal((3, 1500)).astype(np.float32)
    uplink = link.open(3, 1500, rng, clients=CLIENTS, time=TIME, device_rng=device_rng)
    gain = uplink.max_gain(signals)
    received = uplink.send(signals, gain).total
    expected = Reference(link, uplink, device_rng).total(signals, gain)
    assert np.linalg.norm(received - expected) < 1e-4 * np.linalg.norm(expected)
