"""The sampled medium with a given channel, given noise, and hardware that keeps a record."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from phy import NoFading, OfdmGrid, PerfectCsi
from phy.air import FastAir
from phy.csi import qpsk_pilots
from phy.impairments import Adc, ClipAndFilter, Devices, Impairment, SoftLimiter
from phy.randomness import complex_normal
from phy.time_channel import draw_time_channel
from phy.waveform import demodulate, modulate, papr
from phy.waveform_medium import SERVER, WaveformMedium
from tests.phy.given import fixed, turning

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3)
PILOTED = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3, pilots=8)
AMPLITUDE = np.array([1.0, 2.5])
SHORT = fixed([[0.7, 0.2 - 0.5j], [0.3j, -0.6]], np.array([0.0, 4.0]) / GRID.sampling_rate)


@dataclass
class Recorder(Impairment):
    """Multiplies by ``factor`` and keeps what it is given."""

    factor: complex = 1.0
    slots: list = field(default_factory=list)
    samples: list = field(default_factory=list)

    def apply(self, samples, slot):
        self.slots.append(slot)
        self.samples.append(samples)
        return samples * self.factor


@dataclass
class Shortened(Impairment):
    def apply(self, samples, slot):
        return samples[:, 1:]


def medium_of(grid=GRID, num_symbols=5, transmit=(), receive=(), window_advance=0, rms=(1.0, 1.0)):
    return WaveformMedium(
        grid,
        num_symbols,
        FastAir(grid, AMPLITUDE),
        transmit,
        receive,
        window_advance,
        clients=Devices(1, [0, 1]),
        server=Devices(1, [SERVER]),
        rms=np.array(rms),
    )


def channel_of(fading=SHORT, grid=GRID, num_symbols=5):
    return draw_time_channel(
        grid,
        fading,
        PerfectCsi(),
        clients=np.arange(2),
        path_gain=AMPLITUDE**2,
        num_symbols=num_symbols,
        time=0.0,
        rng=np.random.default_rng(0),
        device_rng=None,
    )


def carry(medium, data, fading=SHORT, gain=1.0, noise_std=0.0, seed=0):
    channel, _ = channel_of(fading, medium.grid, medium.num_symbols)
    return medium.carry(data, gain, channel, noise_std, np.random.default_rng(seed))


def block(rng, grid=GRID, num_symbols=5):
    return complex_normal(rng, (2, num_symbols, grid.num_carriers))


def weighted_sum(data, fading=SHORT, grid=GRID):
    response = channel_of(fading, grid)[0].response[..., ~grid.is_pilot]
    return np.einsum("i,ilk,iok->lk", AMPLITUDE, data, response)


@pytest.mark.parametrize("window_advance", [0, 5, 12])
@pytest.mark.parametrize("chain", [(), (Recorder(),)], ids=["shortcut", "samples"])
def test_within_the_prefix_a_weighted_sum_arrives(chain, window_advance, rng):
    data = block(rng)
    medium = medium_of(transmit=chain, window_advance=window_advance)
    received, measured = carry(medium, data)
    np.testing.assert_allclose(received, weighted_sum(data), atol=3e-5)
    # meters: slots of three and two symbols, with their prefixes
    samples = modulate(GRID, data)
    power = np.square(np.abs(samples), dtype=np.float64)
    np.testing.assert_allclose(measured.energy, power.sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(measured.peak, power.max(axis=1), rtol=1e-4)
    arrived = np.square(np.abs(weighted_sum(data)), dtype=np.float64).sum()
    assert measured.arrived == pytest.approx(arrived, rel=1e-4)
    assert measured.server_clipped == 0
    assert not measured.clipped.any()


def test_silence_before_a_slot_is_what_the_server_hears_first(rng):
    """With a prefix that is too short, the previous slot does not leak into the next one."""
    long = fixed([[0.5, 0.5], [0.3, 0.4]], np.array([0.0, 40.0]) / GRID.sampling_rate)
    data = block(rng)
    received, _ = carry(medium_of(), data, fading=long)
    taps = channel_of(long)[0].taps(0, GRID)[:, 0].astype(complex)
    for symbols in (slice(0, 3), slice(3, 5)):
        samples = modulate(GRID, data[:, symbols])
        heard = sum(a * np.convolve(x, h) for a, x, h in zip(AMPLITUDE, samples, taps, strict=True))
        count = symbols.stop - symbols.start
        expected = demodulate(GRID, heard.astype(np.complex64), 0, count)
        np.testing.assert_allclose(received[symbols], expected, atol=3e-5)


def test_noise_is_added_at_the_antenna_slot_by_slot(rng):
    data = block(rng)
    clean, quiet = carry(medium_of(), data)
    noisy, loud = carry(medium_of(), data, noise_std=0.3, seed=9)
    source = np.random.default_rng(9)
    noise = [
        demodulate(GRID, complex_normal(source, (count * 80 + 4,), 0.3), 0, count)
        for count in (3, 2)
    ]
    np.testing.assert_allclose(noisy - clean, np.concatenate(noise), atol=1e-5)
    assert loud.arrived == quiet.arrived  # without noise


def test_hardware_is_told_what_it_may_know(rng):
    at_clients, at_server = Recorder(), Recorder()
    medium = medium_of(
        transmit=(at_clients,), receive=(at_server,), window_advance=5, rms=(2.0, 6.0)
    )
    data = block(rng)
    carry(medium, data, gain=4.0)
    assert [slot.num_symbols for slot in at_clients.slots] == [3, 2]
    channel, _ = channel_of()
    for slot in at_clients.slots:
        np.testing.assert_allclose(slot.rms, [0.5, 1.5])  # in units of the gain
        assert (slot.start, slot.devices.members) == (0, [0, 1])
        np.testing.assert_allclose(slot.response, AMPLITUDE[:, None] * channel.response[:, 0])
        np.testing.assert_allclose(slot.estimate, AMPLITUDE[:, None] * channel.estimate[:, 0])
    np.testing.assert_allclose(at_clients.samples[0], modulate(GRID, data[:, :3]), atol=1e-6)
    for slot, heard in zip(at_server.slots, at_server.samples, strict=True):
        assert (slot.start, slot.devices.members) == (-5, [1 << 62])
        assert slot.response is None
        assert slot.estimate is None
        windows = heard[0, : slot.num_symbols * 80].reshape(-1, 80)[:, 16:]
        assert slot.rms[0] == pytest.approx(np.sqrt(np.square(np.abs(windows)).mean()), rel=1e-5)


def test_impairments_act_in_the_order_in_which_they_are_listed(rng):
    first, second = Recorder(factor=2j), Recorder(factor=3)
    data = block(rng)
    received, measured = carry(medium_of(transmit=(first, second)), data)
    np.testing.assert_allclose(second.samples[0], 2j * first.samples[0], rtol=1e-6)
    np.testing.assert_allclose(received, 6j * weighted_sum(data), atol=2e-4)
    energy = 36 * np.square(np.abs(modulate(GRID, data)), dtype=np.float64).sum(axis=1)
    np.testing.assert_allclose(measured.energy, energy, rtol=1e-4)


def test_clip_rates_are_averaged_over_symbols(rng):
    """Client 0 is limited in the first slot's three symbols of five only."""
    data = block(rng)
    data[:, 3:] = 1e-3
    data[1] = 1e-3
    level_db = -200 / 10  # A = 0.1
    medium = medium_of(transmit=(SoftLimiter(backoff_db=level_db),))
    _, measured = carry(medium, data, fading=NoFading())
    loud = np.mean(np.abs(modulate(GRID, data[:1, :3])) > 0.1)
    assert measured.clipped[0] == pytest.approx(3 / 5 * loud, rel=1e-4)
    assert loud > 0.9
    assert measured.clipped[1] == 0
    assert measured.peak[0] == pytest.approx(0.01, rel=1e-4)


def test_a_server_that_clips_says_how_often(rng):
    adc = Adc(bits=8, backoff_db=-20.0)
    _, measured = carry(medium_of(receive=(adc,)), block(rng), fading=NoFading())
    # |I| > 0.1 sigma of Gaussian samples: 0.92, of 2 x 5 x 52 degrees of freedom
    assert measured.server_clipped == pytest.approx(0.92, abs=5 * np.sqrt(0.92 * 0.08 / 520))


def test_papr_is_that_of_the_symbols_as_they_leave_digital_baseband(rng):
    data = block(rng)
    channel, _ = channel_of()
    plain = medium_of().papr(data, 1.0, channel)
    np.testing.assert_allclose(plain, papr(GRID, data), rtol=1e-5)
    clip = ClipAndFilter(backoff_db=3.0)
    rms = np.array([0.9, 0.9])
    clipped = medium_of(transmit=(clip, SoftLimiter(0.0)), rms=2 * rms).papr(data, 2.0, channel)
    np.testing.assert_allclose(clipped, papr(GRID, clip.shape(GRID, data, rms)), rtol=1e-4)
    assert clipped.mean() < plain.mean()
    _, measured = carry(medium_of(transmit=(clip,), rms=rms), data)
    np.testing.assert_allclose(measured.papr, clipped[:, 0], rtol=1e-4)
    assert carry(medium_of(), data)[1].papr.size == 0


@pytest.mark.parametrize("turn", [0.4, -2.5])
def test_pilots_in_the_grid_undo_the_phase_that_all_symbols_have_in_common(turn, rng):
    data = block(rng, PILOTED)
    server = Recorder(factor=np.exp(1j * turn))
    medium = medium_of(PILOTED, receive=(server,))
    received, measured = carry(medium, data)
    np.testing.assert_allclose(received, weighted_sum(data, grid=PILOTED), atol=5e-5)
    # the energy at the antenna is that of the data alone
    arrived = np.square(np.abs(weighted_sum(data, grid=PILOTED)), dtype=np.float64).sum()
    assert measured.arrived == pytest.approx(arrived, rel=1e-4)
    plain, _ = carry(medium_of(receive=(server,)), block(rng))
    assert plain.shape == (5, GRID.num_carriers)


def test_pilots_have_the_budgeted_power_and_arrive_at_phase_zero(rng):
    client = Recorder()
    data = np.zeros((2, 5, PILOTED.num_carriers), np.complex64)
    medium = medium_of(PILOTED, transmit=(client,), rms=(0.5, 1.0))
    channel, _ = channel_of(grid=PILOTED)
    carry(medium, data, gain=2.0)
    sent = demodulate(PILOTED, client.samples[0], 0, 3)[..., PILOTED.is_pilot]
    # per element: rms^2 N over the carriers of data
    amplitude = np.sqrt(64 / 44) * np.array([0.25, 0.5])[:, None, None]
    np.testing.assert_allclose(np.abs(sent), np.broadcast_to(amplitude, (2, 3, 8)), rtol=1e-4)
    heard = medium.air.propagate(client.samples[0], channel, 0)
    together = demodulate(PILOTED, heard, 0, 3)[:, PILOTED.is_pilot] * qpsk_pilots(1, 8).conj()
    np.testing.assert_allclose(together.imag, 0, atol=1e-5)
    assert (together.real > 0).all()


def test_pilots_drowned_in_noise_turn_nothing(rng):
    """Below 13 dB over the noise of their sum their phase is left alone: 20 = 13 dB."""
    data = np.zeros((2, 5, PILOTED.num_carriers), np.complex64)
    turned = Recorder(factor=np.exp(1j))
    medium = medium_of(PILOTED, receive=(turned,), rms=(1e-6, 1e-6))
    received, _ = carry(medium, data, noise_std=1e3, seed=3)
    source = np.random.default_rng(3)
    noise = [
        demodulate(PILOTED, complex_normal(source, (count * 80 + 4,), 1e3), 0, count)
        for count in (3, 2)
    ]
    noise = np.concatenate(noise)
    pilots = (noise[:, PILOTED.is_pilot] * qpsk_pilots(1, 8).conj()).sum(axis=1)
    unclear = np.abs(pilots) < np.sqrt(20 * 8) * 1e3
    assert unclear.sum() >= 3  # each with a probability of 1 - e^-20
    expected = noise[:, ~PILOTED.is_pilot] * np.exp(1j)
    np.testing.assert_allclose(received[unclear], expected[unclear], rtol=1e-3, atol=1)


def test_csi_through_hardware_sees_its_linear_part():
    """A gain at the clients and a turn at the server, on every carrier and at every age."""
    at_clients, at_server = Recorder(factor=0.5), Recorder(factor=1j)
    medium = medium_of(transmit=(at_clients,), receive=(at_server,), rms=(0.1, 3.0))
    channel, observed = channel_of(num_symbols=5)
    seen = medium.observed_through_hardware(observed, channel, np.random.default_rng(0))
    np.testing.assert_allclose(seen.response, 0.5j * channel.response, atol=1e-5)
    np.testing.assert_allclose(seen.response_before(1.0), 0.5j * channel.response, atol=1e-5)
    # each client alone, one symbol at its budgeted power
    assert [slot.num_symbols for slot in at_server.slots] == [1, 1]
    power = np.square(np.abs(at_clients.samples[0][:, 16:80])).mean(axis=1)
    np.testing.assert_allclose(power, [0.01, 9.0], rtol=1e-4)


def test_perfect_hardware_changes_no_csi():
    channel, observed = channel_of()
    seen = medium_of().observed_through_hardware(observed, channel, np.random.default_rng(0))
    np.testing.assert_allclose(seen.response, channel.response, rtol=1e-5)


def test_a_moving_channel_turns_every_sample_of_every_slot(rng):
    """A flat channel of 900 Hz, slot after slot: interference between carriers included."""
    fading = turning(np.ones((2, 1)), np.array([[900.0], [-400.0]]), np.zeros(1))
    data = block(rng)
    received, _ = carry(medium_of(), data, fading=fading)
    for symbols in (slice(0, 3), slice(3, 5)):
        samples = modulate(GRID, data[:, symbols])
        times = (80 * symbols.start + np.arange(samples.shape[1])) / GRID.sampling_rate
        heard = np.einsum("i,in,in->n", AMPLITUDE, fading.gains(times)[..., 0], samples)
        count = symbols.stop - symbols.start
        expected = demodulate(GRID, heard.astype(np.complex64), 0, count)
        np.testing.assert_allclose(received[symbols], expected, atol=1e-4)
    assert np.abs(received - np.einsum("i,ilk->lk", AMPLITUDE, data)).max() > 0.1


def test_hardware_that_loses_samples_is_refused(rng):
    message = (
        r"Shortened.apply must return as many samples as it is given, \(2, 240\), got \(2, 239\)"
    )
    with pytest.raises(ValueError, match=message):
        carry(medium_of(transmit=(Shortened(),)), block(rng))
