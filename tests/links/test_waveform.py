"""The time-domain link against the frequency-domain one, against Sionna, and by hand."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from links.ofdm import OfdmSlot
from links.opening import Opening
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PilotCsi, Rayleigh, Rician, Tdl, quiet
from phy.air import FastAir
from phy.channel import Channel
from phy.fading import Taps
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from phy.randomness import complex_normal
from phy.sionna_air import SionnaAir
from phy.waveform import demodulate
from tests.links.fixed import FixedFading

SMALL = OfdmGrid(fft_size=64, cp_length=32, guards=(5, 4), symbols_per_slot=5)
FADINGS = [
    NoFading(),
    Rayleigh(),
    Rician(k_factor=2.0),
    *(Tdl(model, delay_spread=100e-9) for model in "ABCDE"),
]
MOVING = [
    Rayleigh(speed=50.0),
    Tdl("C", delay_spread=200e-9, speed=50.0),
    Tdl("D", delay_spread=100e-9, speed=5.0),
]
EVERY_FAULT = {
    "transmit": (
        ClipAndFilter(backoff_db=6),
        IqImbalance(gain_std_db=0.3, phase_std_deg=2),
        PhaseNoise(linewidth=300),
        CarrierOffset(std=2.0, unit="ppm", sync=CarrierSync(snr_db=20)),
        ClockOffset(std_ppm=20),
        TimingOffset(std=1.5, advance=TimingAdvance(resolution=0.5)),
        SoftLimiter(backoff_db=9),
        Rapp(backoff_db=7),
    ),
    "receive": (
        IqImbalance(gain_db=0.2, phase_deg=1),
        CarrierOffset(offset=0.003),
        PhaseNoise(linewidth=100),
        Adc(bits=8),
    ),
    "window_advance": 4,
}


def frequency_slot(slot, link, opening):
    """The OfdmSlot with the same channel and the same CSI as a waveform's."""
    channels = [
        Channel(each.response, each.estimate, Taps(each.gains[0][:, :1], each.delays))
        for each in slot.channels
    ]
    names = ("grid", "truncation", "correction", "control", "budget", "snr_db", "path_gain")
    options = {name: getattr(link, name) for name in names}
    return OfdmSlot(OfdmLink(**options, csi=link.csi), opening, slot.packing, channels)


@pytest.mark.parametrize("fading", FADINGS, ids=str)
@pytest.mark.parametrize("csi", [None, NoisyCsi(0.05)], ids=str)
def test_without_faults_it_is_the_ofdm_link(fading, csi, rng):
    """The response of the same taps, and the same noise on the elements."""
    check_same_as_ofdm(WaveformLink(fading=fading, **({"csi": csi} if csi else {})), rng)


@pytest.mark.parametrize(
    "options",
    [
        {"correction": "active"},
        {"correction": "expected", "fading": Rayleigh()},
        {"control": "mmse"},
        {"budget": "round", "path_gain": (0.1, 1.0, 5.0)},
        {"grid": SMALL, "fading": Tdl("A", delay_spread=20e-9)},
        {"grid": OfdmGrid(fft_size=63, cp_length=30, guards=(0, 3)), "fading": Tdl("B")},
        {"window_advance": 20},
        {"receive": (Adc(bits=24, backoff_db=20),)},  # which takes the long way
    ],
    ids=str,
)
def test_every_option_is_that_of_the_ofdm_link(options, rng):
    check_same_as_ofdm(WaveformLink(**options), rng)


def check_same_as_ofdm(link, rng, clients=3, length=1901):
    link = replace(link, snr_db=40.0)
    signals = rng.standard_normal((clients, length)).astype(np.float32)
    opening = Opening.of(clients, length, rng, None, 0.0, None)
    slot = link.open(clients, length, rng)
    other = frequency_slot(slot, link, opening)
    other._noise_std = np.zeros(1)
    gain = slot.max_gain(signals)
    np.testing.assert_allclose(other.max_gain(signals), gain, rtol=1e-5)
    drawn = copy.deepcopy(rng)
    received = slot.send(signals, gain)
    without_noise = other.send(signals, gain)
    np.testing.assert_allclose(received.energy, without_noise.energy, rtol=1e-4, atol=1e-12)

    # the samples of noise that the link drew, on the elements
    grid, lags = link.grid, slot.channels[0].lags
    noise = np.zeros((slot.packing.num_symbols, grid.num_carriers), np.complex64)
    for start in range(0, len(noise), grid.symbols_per_slot):
        symbols = min(grid.symbols_per_slot, len(noise) - start)
        count = symbols * (grid.fft_size + grid.cp_length) + lags.num_taps - 1
        std = np.sqrt(2) * slot._noise.std[0] / gain
        samples = complex_normal(drawn, (count + link.window_advance,), std)
        first = lags.first - link.window_advance
        noise[start : start + symbols] = demodulate(grid, samples, first, symbols)
    if link.control == "mmse":
        noise = noise / slot.precodings[0].scale
    factor = other.link.make_up(slot.precodings[0].active, np.full(clients, 1 / 3), other._chance)
    expected = without_noise.total + slot.packing.unpack(
        noise if factor is None else noise * factor
    )
    scale = np.linalg.norm(np.abs(signals).sum(axis=0)) + np.linalg.norm(noise)
    assert np.linalg.norm(received.total - expected) < 1e-5 * scale


def test_its_csi_is_that_of_sionnas_discrete_channel(rng):
    """time_to_ofdm_channel of cir_to_time_channel, not the response of the continuous paths."""
    quiet.sionna()
    import tensorflow as tf
    from sionna.phy.channel import cir_to_time_channel, time_to_ofdm_channel
    from sionna.phy.ofdm import ResourceGrid

    grid = OfdmGrid()
    slot = WaveformLink(fading=Tdl("A")).open(3, 100, rng)
    channel = slot.channels[0]
    resources = ResourceGrid(1, grid.fft_size, grid.subcarrier_spacing, cyclic_prefix_length=64)
    a = tf.constant(channel.gains[0][:, None, None, None, None].swapaxes(-1, -2))
    tau = tf.constant(np.tile(channel.delays, (3, 1, 1, 1)), tf.float32)
    rate = tf.constant(grid.sampling_rate, tf.float32)
    taps = cir_to_time_channel(rate, a, tau, channel.lags.first, channel.lags.last)
    taps = tf.repeat(taps, grid.fft_size + 64 + channel.lags.num_taps, axis=-2)
    theirs = time_to_ofdm_channel(taps, resources, channel.lags.first)
    theirs = np.asarray(theirs)[:, 0, 0, 0, 0, 0, grid.carriers + grid.fft_size // 2]
    np.testing.assert_allclose(channel.response[:, 0], theirs, atol=2e-5)


@pytest.mark.parametrize("fading", [*FADINGS, *MOVING], ids=str)
@pytest.mark.parametrize("num_samples", [96, 480, 1000])
def test_the_air_is_sionnas_sample_by_sample(fading, num_samples, rng):
    clients = 3
    symbols = -(-num_samples // 96)
    link = WaveformLink(grid=replace(SMALL, symbols_per_slot=symbols), fading=fading)
    channel = link.open(clients, 2 * 54 * symbols, rng).channels[0]
    samples = complex_normal(rng, (clients, num_samples))
    amplitude = np.array([1.0, 0.3, 2.0])
    for add in (True, False):
        ours, theirs = (
            air(SMALL, amplitude).propagate(samples, channel, 0, add=add)
            for air in (FastAir, SionnaAir)
        )
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("fading", [*FADINGS, *MOVING], ids=str)
@pytest.mark.parametrize("faults", [{}, EVERY_FAULT], ids=["clean", "faulty"])
def test_engines_agree_on_a_round(fading, faults, rng):
    link = WaveformLink(
        grid=replace(SMALL, pilots=4), fading=fading, entry_snr_db=20, csi=NoisyCsi(0.01), **faults
    )
    seed = int(rng.integers(2**32))
    signals = rng.standard_normal((3, 901)).astype(np.float32)
    results = []
    for engine in ("fast", "sionna"):
        drawn, device = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        slot = replace(link, engine=engine).open(3, 901, drawn, device_rng=device, time=1.0)
        results.append(slot.send(signals, slot.max_gain(signals)))
    ours, theirs = results
    # a sample on the edge of an ADC's step may fall to either side
    error = np.linalg.norm(ours.total - theirs.total) / np.linalg.norm(theirs.total)
    assert error < (2e-2 if faults else 1e-4)
    np.testing.assert_allclose(ours.energy, theirs.energy, rtol=1e-4)
    for name, value in theirs.diagnostics.items():
        np.testing.assert_allclose(
            ours.diagnostics[name], value, rtol=2e-3, atol=1e-2 if faults else 1e-5, err_msg=name
        )


@pytest.mark.parametrize("cp_length", [2, 5, 12])
def test_a_prefix_that_is_too_short_fails_as_in_stock_sionna(cp_length, rng):
    """Interference between symbols and carriers, by blocks of Sionna's put together here."""
    quiet.sionna()
    import tensorflow as tf
    from sionna.phy.channel import ApplyTimeChannel, cir_to_time_channel
    from sionna.phy.ofdm import OFDMDemodulator, OFDMModulator

    grid = OfdmGrid(fft_size=64, cp_length=cp_length, guards=(5, 4))
    gains = complex_normal(rng, (2, 4)) + np.array([[2], [2j]])
    delays = np.array([0.0, 3.3, 7.1, 10.0]) / grid.sampling_rate
    link = WaveformLink(
        grid=grid, fading=FixedFading(gains, delays), snr_db=np.inf, interleaver_seed=None
    )
    length = 2 * grid.num_carriers * 6
    signals = rng.standard_normal((2, length)).astype(np.float32)
    slot = link.open(2, length, rng)
    received = slot.send(signals, 1e-3, enforce=False).total

    lags = slot.channels[0].lags
    data = signals.reshape(2, 6, grid.num_carriers, 2) @ np.array([1, 1j])
    response = slot.channels[0].response
    sent = np.zeros((2, 6, 64), np.complex64)
    strong = np.abs(response) ** 2 > 0.05
    sent[..., grid.carriers + 32] = data * np.where(strong, 1 / response, 0)
    samples = OFDMModulator(cp_length)(tf.constant(sent[None, :, None]))
    a = tf.constant(gains[None, None, None, :, None, :, None], tf.complex64)
    tau = tf.constant(np.tile(delays, (1, 1, 2, 1)), tf.float32)
    rate = tf.constant(grid.sampling_rate, tf.float32)
    taps = cir_to_time_channel(rate, a, tau, lags.first, lags.last)
    arrived = ApplyTimeChannel(samples.shape[-1], lags.num_taps)(samples, taps)
    arrived = arrived[..., : 6 * (64 + cp_length)]
    theirs = np.asarray(OFDMDemodulator(64, lags.first, cp_length)(arrived))[0, 0, 0]
    theirs = theirs[:, grid.carriers + 32].reshape(-1).view(np.float32)
    np.testing.assert_allclose(received, theirs, atol=1e-4 * np.abs(theirs).max())
    truth = (data * strong).sum(axis=0).reshape(-1).astype(np.complex64).view(np.float32)
    assert np.square(theirs - truth).mean() > 1e-4 * np.square(truth).mean()


@pytest.mark.parametrize("advance", [0, 7])
def test_a_moving_channel_is_known_in_the_middle_of_each_fft(advance, rng):
    """Moving fading is a function of time, so it can be asked for at any instant."""
    grid, speed = OfdmGrid(symbols_per_slot=6), 30.0
    fading = Tdl("B", delay_spread=200e-9, speed=speed)
    device = np.random.default_rng(int(rng.integers(2**32)))
    link = WaveformLink(grid=grid, fading=fading, window_advance=advance)
    slot = link.open(2, 800 * 8, rng, time=3.0, device_rng=device)
    response = slot.channels[0].response
    assert response.shape == (2, 8, 400)
    starts = 3.0 + np.array([0, 1, 2, 3, 4, 5, 6, 7]) * grid.symbol_duration
    middle = starts + (grid.cp_length - 6 - advance + 511 / 2) / grid.sampling_rate
    still = fading.draw(np.arange(2), middle, rng, device)
    lags = slot.channels[0].lags
    pulses = np.sinc(
        np.arange(lags.first, lags.last + 1) - fading.delays[:, None] * grid.sampling_rate
    )
    turns = np.outer(np.arange(lags.first, lags.last + 1), grid.carriers) / 512
    expected = still.gains @ pulses @ np.exp(-2j * np.pi * turns)
    np.testing.assert_allclose(response, expected, atol=1e-4)

    # and its paths at any sample of the second slot's burst follow those of the fading
    at = np.arange(0, 1152 + lags.num_taps - 1)
    gains = slot.channels[0].gains[1]
    from phy.convolution import between_knots

    when = 3.0 + (6 * 576 + lags.first + at) / grid.sampling_rate
    exact = fading.draw(np.arange(2), when, rng, device).gains
    np.testing.assert_allclose(between_knots(gains, at * 1.0, 288), exact, atol=2e-5)


def test_pilots_look_once_a_slot_and_ageing_looks_back(rng):
    grid = OfdmGrid(symbols_per_slot=4)
    fading = Tdl("A", speed=30.0)
    device = np.random.default_rng(int(rng.integers(2**32)))
    options = {"grid": grid, "fading": fading}
    piloted = WaveformLink(csi=PilotCsi(snr_db=np.inf), **options).open(2, 8000, rng)
    assert piloted.channels[0].estimate.shape == (2, 3, 400)
    np.testing.assert_allclose(
        piloted.channels[0].estimate, piloted.channels[0].response, atol=1e-5
    )
    aged = WaveformLink(csi=AgedCsi(1e-3), **options).open(2, 1600, rng, device_rng=device, time=1)
    fresh = WaveformLink(**options).open(2, 1600, rng, device_rng=device, time=1 - 1e-3)
    np.testing.assert_allclose(aged.channels[0].estimate, fresh.channels[0].response, atol=1e-4)
    assert np.abs(aged.channels[0].estimate - aged.channels[0].response).max() > 0.01


def test_a_trial_is_the_same_alone_and_in_a_batch(rng):
    link = WaveformLink(grid=replace(SMALL, pilots=2), entry_snr_db=10, **EVERY_FAULT)
    signals = rng.standard_normal((3, 2, 500)).astype(np.float32)

    def generators():
        return [np.random.default_rng(seed) for seed in (1, 2, 3)]

    batch = link.open(2, 500, generators(), device_rng=generators()).send(signals, 1e-3)
    for trial, (rng_, device) in enumerate(zip(generators(), generators(), strict=True)):
        alone = link.open(2, 500, rng_, device_rng=device).send(signals[trial], 1e-3)
        np.testing.assert_allclose(alone.total, batch.total[trial], rtol=1e-5)
        for name, value in alone.diagnostics.items():
            np.testing.assert_allclose(value, batch.diagnostics[name][trial], err_msg=name)


def test_devices_keep_their_faults_over_rounds_and_subsets(rng):
    """The offset, IQ and clock of client 4 are its own, whoever else takes part."""
    faults = (
        CarrierOffset(std=0.05),
        IqImbalance(gain_std_db=1, phase_std_deg=5),
        ClockOffset(std_ppm=50),
        TimingOffset(std=2),
    )
    link = WaveformLink(grid=SMALL, fading=NoFading(), snr_db=np.inf, transmit=faults)
    signals = rng.standard_normal((1, 400)).astype(np.float32)
    device = np.random.default_rng(int(rng.integers(2**32)))

    def heard(client, others=()):
        clients = [*others, client]
        sent = np.concatenate([np.zeros((len(others), 400), np.float32), signals])
        slot = link.open(len(clients), 400, rng, clients=clients, device_rng=copy.deepcopy(device))
        return slot.send(sent, 1e-3).total

    np.testing.assert_allclose(heard(4), heard(4), rtol=1e-5)
    np.testing.assert_allclose(heard(4), heard(4, others=(7, 2)), rtol=1e-4, atol=1e-4)
    assert np.linalg.norm(heard(4) - heard(5)) > 1e-2 * np.linalg.norm(signals)
    new = link.open(1, 400, rng, clients=[4]).send(signals, 1e-3).total  # devices of this round
    assert np.linalg.norm(heard(4) - new) > 1e-2 * np.linalg.norm(signals)


def test_the_server_has_hardware_of_its_own(rng):
    """Its draw is not that of the first client."""
    fault = CarrierOffset(std=0.05)
    device = np.random.default_rng(int(rng.integers(2**32)))
    signals = rng.standard_normal((1, 500)).astype(np.float32)
    totals = []
    for faults in ({"transmit": (fault,)}, {"receive": (fault,)}):
        link = WaveformLink(grid=SMALL, fading=NoFading(), snr_db=np.inf, **faults)
        slot = link.open(1, 500, rng, device_rng=copy.deepcopy(device))
        totals.append(slot.send(signals, 1e-3).total)
    assert np.linalg.norm(totals[0] - totals[1]) > 1e-3 * np.linalg.norm(signals)


def test_pilots_that_drown_in_noise_do_no_harm(rng):
    """Their phase is noise then: what arrives must still point along the sum."""
    signals = rng.standard_normal((10, 7850)).astype(np.float32)
    truth = signals.sum(axis=0)
    for snr in (-40.0, -30.0, -19.0, 0.0):
        shares = []
        for pilots in (0, 8):
            link = WaveformLink(grid=OfdmGrid(pilots=pilots), fading=NoFading(), entry_snr_db=snr)
            rngs = [np.random.default_rng(seed) for seed in range(30)]
            slot = link.open(10, 7850, rngs)
            batch = np.broadcast_to(signals, (30, *signals.shape))
            total = slot.send(batch, slot.max_gain(batch)).total
            shares.append((total @ truth / (truth @ truth)).mean())
        assert shares[1] > 0.93 * shares[0] - 0.1


def test_a_window_too_early_for_the_channel_meets_the_symbol_before(rng):
    """Then there is no short way, and the engines still agree."""
    signals = rng.standard_normal((3, 901)).astype(np.float32)
    seed = int(rng.integers(2**32))
    totals = []
    for engine in ("fast", "sionna"):
        link = WaveformLink(
            grid=SMALL,
            fading=Tdl("A", delay_spread=500e-9),
            snr_db=np.inf,
            truncation=0.0,
            window_advance=28,
            engine=engine,
        )
        slot = link.open(3, 901, np.random.default_rng(seed))
        assert SMALL.cp_length - 28 < slot.channels[0].lags.num_taps - 1 <= SMALL.cp_length
        totals.append(slot.send(signals, slot.max_gain(signals)).total)
    error = np.linalg.norm(totals[0] - totals[1])
    assert error < 1e-4 * np.linalg.norm(totals[1])
    assert np.linalg.norm(totals[0] - signals.sum(axis=0)) > 100 * error
