"""The time-domain link: against the frequency-domain one, devices, and options."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from links import WaveformLink, realise
from links.faded import Correction
from links.ofdm import OfdmMedium
from links.radio import Noise, noise_of
from links.uplink import Uplink
from phy import NoFading, NoisyCsi, OfdmGrid, Rayleigh, Rician, Tdl
from phy.channel import Channel
from phy.fading import Taps
from phy.fused_medium import FusedMedium
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    Impairment,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from phy.randomness import complex_normal
from phy.waveform import demodulate
from tests.links.fixed import generators

SMALL = OfdmGrid(fft_size=64, cp_length=32, guards=(5, 4), symbols_per_slot=5)

FADINGS = [
    NoFading(),
    Rayleigh(),
    Rician(k_factor=2.0),
    *(Tdl(model, delay_spread=100e-9) for model in "ABCDE"),
]

EVERY_IMPAIRMENT = {
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


def frequency_uplink(uplink, link):
    """The uplink of an OfdmLink with the same channel and CSI as a waveform's, without noise."""
    medium = uplink.medium
    one = medium.channel
    channel = Channel(one.response, one.estimate, Taps(one.gains[0][:, :1], one.delays))
    path_gain = np.broadcast_to(np.asarray(link.path_gain, np.float64), (len(uplink.clients),))
    flat = OfdmMedium(
        packing=medium.packing,
        channel=channel,
        precoding=medium.precoding,
        engine=FusedMedium(medium.packing, medium.precoding),
        correction=Correction.of(link, link.grid, path_gain),
        noise=Noise(np.inf, np.inf, 0.0),
        rng=np.random.default_rng(0),
        pilot_energy=np.zeros(len(uplink.clients)),
        pilot_symbols=0,
    )
    return Uplink(uplink.clients, uplink.length, uplink.budget, flat)


@pytest.mark.parametrize("fading", FADINGS, ids=str)
@pytest.mark.parametrize("csi", [None, NoisyCsi(0.05)], ids=str)
def test_without_impairments_it_is_the_ofdm_link(fading, csi, rng):
    """The response of the same taps, and the same noise on the elements."""
    check_same_as_ofdm(WaveformLink(fading=fading, **({"csi": csi} if csi else {})), rng)


@pytest.mark.parametrize(
    "options",
    [
        {"correction": "active"},
        {"correction": "expected", "fading": Rayleigh()},
        {"control": "mmse"},
        {"control": "mmse", "variances": "reported"},
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
    signals *= np.geomspace(1, 0.1, clients, dtype=np.float32)[:, None]
    uplink = link.open(clients, length, rng).prepared(signals)
    other = frequency_uplink(uplink, link)
    gain = uplink.max_gain(signals)
    np.testing.assert_allclose(other.max_gain(signals), gain, rtol=1e-5)
    drawn = copy.deepcopy(rng)
    received = uplink.send(signals, gain)
    without_noise = other.send(signals, gain)
    np.testing.assert_allclose(received.energy, without_noise.energy, rtol=1e-4, atol=1e-12)

    # the samples of noise that the link drew, on the elements
    grid, lags = link.grid, uplink.medium.channel.lags
    noise = np.zeros((uplink.medium.packing.num_symbols, grid.num_carriers), np.complex64)
    for start in range(0, len(noise), grid.symbols_per_slot):
        symbols = min(grid.symbols_per_slot, len(noise) - start)
        count = symbols * (grid.fft_size + grid.cp_length) + lags.num_taps - 1
        std = np.sqrt(2) * noise_of(link, length).std / gain
        samples = complex_normal(drawn, (count + link.window_advance,), std)
        first = lags.first - link.window_advance
        noise[start : start + symbols] = demodulate(grid, samples, first, symbols)
    if link.control == "mmse":
        noise = noise / uplink.medium.precoding.scale
    factor = other.medium.correction.factor(uplink.medium.precoding.active, None)
    expected = without_noise.total + uplink.medium.packing.unpack(
        noise if factor is None else noise * factor
    )
    scale = np.linalg.norm(np.abs(signals).sum(axis=0)) + np.linalg.norm(noise)
    assert np.linalg.norm(received.total - expected) < 1e-5 * scale


def test_a_realisation_is_the_same_alone_and_beside_others(rng):
    link = WaveformLink(grid=replace(SMALL, pilots=2), entry_snr_db=10, **EVERY_IMPAIRMENT)
    signals = rng.standard_normal((3, 2, 500)).astype(np.float32)

    def generators():
        return [np.random.default_rng(seed) for seed in (1, 2, 3)]

    batch = realise(
        link,
        2,
        500,
        generators(),
        lambda uplink, n: uplink.send(signals[n], 1e-3),
        device_rngs=generators(),
    )
    for number, (rng_, device) in enumerate(zip(generators(), generators(), strict=True)):
        alone = link.open(2, 500, rng_, device_rng=device).send(signals[number], 1e-3)
        np.testing.assert_array_equal(alone.total, batch.total[number])
        for name, value in alone.diagnostics.items():
            np.testing.assert_array_equal(value, batch.diagnostics[name][number], err_msg=name)


def test_devices_keep_their_hardware_over_rounds_and_subsets(rng):
    """The offset, IQ and clock of client 4 are its own, whoever else takes part."""
    impairments = (
        CarrierOffset(std=0.05),
        IqImbalance(gain_std_db=1, phase_std_deg=5),
        ClockOffset(std_ppm=50),
        TimingOffset(std=2),
    )
    link = WaveformLink(grid=SMALL, fading=NoFading(), snr_db=np.inf, transmit=impairments)
    signals = rng.standard_normal((1, 400)).astype(np.float32)
    device = np.random.default_rng(int(rng.integers(2**32)))

    def heard(client, others=()):
        clients = [*others, client]
        sent = np.concatenate([np.zeros((len(others), 400), np.float32), signals])
        uplink = link.open(
            len(clients), 400, rng, clients=clients, device_rng=copy.deepcopy(device)
        )
        return uplink.send(sent, 1e-3).total

    np.testing.assert_allclose(heard(4), heard(4), rtol=1e-5)
    np.testing.assert_allclose(heard(4), heard(4, others=(7, 2)), rtol=1e-4, atol=1e-4)
    assert np.linalg.norm(heard(4) - heard(5)) > 1e-2 * np.linalg.norm(signals)
    new = link.open(1, 400, rng, clients=[4]).send(signals, 1e-3).total  # devices of this round
    assert np.linalg.norm(heard(4) - new) > 1e-2 * np.linalg.norm(signals)


def test_the_server_has_hardware_of_its_own(rng):
    """Its draw is not that of the first client."""
    impairment = CarrierOffset(std=0.05)
    device = np.random.default_rng(int(rng.integers(2**32)))
    signals = rng.standard_normal((1, 500)).astype(np.float32)
    totals = []
    for impairments in ({"transmit": (impairment,)}, {"receive": (impairment,)}):
        link = WaveformLink(grid=SMALL, fading=NoFading(), snr_db=np.inf, **impairments)
        uplink = link.open(1, 500, rng, device_rng=copy.deepcopy(device))
        totals.append(uplink.send(signals, 1e-3).total)
    assert np.linalg.norm(totals[0] - totals[1]) > 1e-5 * np.linalg.norm(signals)


@pytest.mark.parametrize("snr", [-40.0, -30.0, -19.0, 0.0])
def test_pilots_that_drown_in_noise_do_no_harm(snr, rng):
    """Their phase is noise then: what arrives must still point along the sum."""
    signals = rng.standard_normal((10, 7850)).astype(np.float32)
    truth = signals.sum(axis=0)

    def share(uplink, n):
        return uplink.send(signals, uplink.max_gain(signals)).total @ truth / (truth @ truth)

    with_none, with_pilots = (
        realise(
            WaveformLink(grid=OfdmGrid(pilots=pilots), fading=NoFading(), entry_snr_db=snr),
            10,
            7850,
            generators(rng, 60),
            share,
        )
        for pilots in (0, 8)
    )
    error = np.sqrt((np.square(0.93 * with_none.std()) + with_pilots.var()) / 60)
    assert with_pilots.mean() > 0.93 * with_none.mean() - 5 * error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window_advance": -1}, "^window_advance must be a whole number >= 0, got -1"),
        ({"window_advance": 65}, "^window_advance must be at most cp_length = 64, got 65"),
        ({"csi_through_faults": 1}, "^csi_through_faults must be True or False, got 1"),
        ({"transmit": Rapp()}, r"^transmit must be a sequence of impairments.*, got Rapp"),
        ({"transmit": "rapp"}, "^transmit must be a sequence of impairments.*, got 'rapp'"),
        (
            {"transmit": (Rapp,)},
            r"^transmit\[0\] must be an instance of .* such as .*, got <class",
        ),
        (
            {"receive": (Adc(), 3)},
            r"^receive\[1\] must be an instance of .* such as .*, got 3",
        ),
        (
            {"transmit": (TimingOffset(std=1), TimingOffset(std=2))},
            r"^transmit\[1\] must be the only TimingOffset of transmit",
        ),
        (
            {"transmit": (Rapp(), ClipAndFilter())},
            r"^transmit\[1\] must be .*ClipAndFilter.* must be first in transmit",
        ),
        ({"fading": Tdl("A", delay_spread=1e-4)}, "^fading must be shorter than an OFDM symbol"),
        ({"fading": Rayleigh(speed=1e5)}, "^the Doppler shift must be at most .* Hz"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        WaveformLink(**options)


def test_an_impairment_is_asked_whether_it_suits(rng):
    """Once when the link is made, and again with the number of devices when a round is opened."""
    asked = []

    class Fussy(Impairment):
        def check(self, grid, side, num_devices=None):
            asked.append((side, num_devices))

        def apply(self, samples, slot):
            return samples

    link = WaveformLink(grid=SMALL, transmit=(Fussy(),), receive=(Fussy(),))
    assert asked == [("transmit", None), ("receive", None)]
    link.open(2, 9, rng, clients=[4, 1])
    assert asked[2:] == [("transmit", 5), ("receive", 5)]
    with pytest.raises(
        ValueError, match="^CarrierOffset.offset must be .* client 4 takes part, got 2 values"
    ):
        WaveformLink(transmit=(CarrierOffset([0.1, 0.2]),)).open(2, 9, rng, clients=[4, 1])


def test_an_impairment_of_a_users_own_acts_on_samples(rng):
    class Halved(Impairment):
        def apply(self, samples, slot):
            return 0.5 * samples

    class Longer(Impairment):
        def apply(self, samples, slot):
            return np.repeat(samples, 2, axis=1)

    signals = rng.standard_normal((2, 500)).astype(np.float32)
    options = {"grid": SMALL, "fading": NoFading(), "snr_db": np.inf}
    uplink = WaveformLink(transmit=(Halved(),), **options).open(2, 500, rng)
    total = uplink.send(signals, 1e-3).total
    np.testing.assert_allclose(total, signals.sum(axis=0) / 2, atol=1e-5)
    uplink = WaveformLink(transmit=(Longer(),), **options).open(2, 500, rng)
    with pytest.raises(ValueError, match="^Longer.apply must return as many samples as it is"):
        uplink.send(signals, 1e-3)


@pytest.mark.parametrize(
    "impairment", [CarrierOffset(std=0.02), IqImbalance(gain_std_db=1.0, phase_std_deg=5.0)]
)
def test_a_device_keeps_its_hardware_among_those_chosen(impairment, rng):
    """Opened for all and then for some of them, or for these at once: the same hardware."""
    link = WaveformLink(grid=SMALL, fading=NoFading(), snr_db=np.inf, transmit=(impairment,))
    device_rng, signals = np.random.default_rng(rng.integers(2**32)), rng.standard_normal((3, 200))

    def received(uplink):
        return uplink.send(signals[: len(uplink.clients)], 1e-3).total

    everyone = link.open(3, 200, rng, device_rng=device_rng)
    for chosen in ([2], [0, 1]):
        own = link.open(len(chosen), 200, rng, clients=chosen, device_rng=device_rng)
        some = received(everyone.only(np.array(chosen)))
        np.testing.assert_allclose(some, received(own), rtol=1e-4, atol=1e-4)
    assert np.abs(received(everyone) - signals.sum(axis=0)).max() > 1e-3  # hardware matters
