"""The frequency-domain OFDM uplink, by hand: channel and noise are given."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from links import IdealLink, OfdmLink, WaveformLink
from phy import NoFading, OfdmGrid, PilotCsi, Rayleigh, Rician, Tdl
from phy.randomness import complex_normal
from tests.links.fixed import SIGNALS, TWO, FixedFading, relative, unit_noise

EVERY_FADING = [
    NoFading(),
    Rayleigh(),
    Rician(k_factor=3.0),
    *(Tdl(model) for model in "ABCDE"),
    Tdl("B", delay_spread=300e-9),
    Rayleigh(speed=30.0),
    Tdl("A", speed=30.0),
    Tdl("E", speed=100.0),
]


@pytest.mark.parametrize("fading", EVERY_FADING, ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 799, 800, 801, 7850, 100_000])
def test_without_noise_ofdm_is_the_ideal_sum(fading, length, rng):
    signals = rng.standard_normal((4, length)).astype(np.float32)
    link = OfdmLink(fading=fading, snr_db=np.inf, truncation=0.0)
    uplink = link.open(4, length, rng)
    ideal = IdealLink().open(4, length, rng).send(signals, 1.0).total
    received = uplink.send(signals, uplink.max_gain(signals))
    # against the parts: the sum itself may all but cancel
    error = np.linalg.norm(received.total - ideal)
    assert error < 1e-5 * np.linalg.norm(np.abs(signals).sum(axis=0))
    nmse = (error / np.linalg.norm(ideal)) ** 2
    assert received.diagnostics["nmse"] == pytest.approx(nmse, rel=1e-3, abs=1e-30)


@pytest.mark.parametrize("csi", [PilotCsi(snr_db=np.inf), PilotCsi(snr_db=np.inf, num_pilots=3)])
@pytest.mark.parametrize("control", ["inversion", "mmse"])
def test_an_estimate_without_error_gives_the_same_sum(csi, control, rng):
    signals = rng.standard_normal((4, 1001)).astype(np.float32)
    link = OfdmLink(snr_db=np.inf, truncation=0.0, csi=csi, control=control)
    uplink = link.open(4, 1001, rng)
    received = uplink.send(signals, uplink.max_gain(signals)).total
    assert relative(received, signals.sum(axis=0)) < 1e-5


@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_a_round_by_hand(engine):
    # one path each: client 0 at half amplitude, client 1 turned by 90 degrees
    link = OfdmLink(
        grid=TWO,
        fading=FixedFading([[0.5], [1j]]),
        truncation=0.0,
        snr_db=0.0,
        power=[200.0, 20_000.0],
        path_gain=[1.0, 4.0],
        interleaver_seed=None,
        engine=engine,
    )
    uplink = link.open(2, 4, np.random.default_rng(5))
    # ||s||^2 / (path_gain |h|^2), in the one OFDM symbol of the block
    np.testing.assert_allclose(uplink.energy(SIGNALS), [[30 / 0.25], [3000 / 4]], rtol=1e-6)
    np.testing.assert_allclose(uplink.budget, [[200], [20_000]])
    np.testing.assert_allclose(uplink.load(SIGNALS), [120 / 200, 750 / 20_000], rtol=1e-6)
    np.testing.assert_allclose(uplink.max_gain(SIGNALS), np.sqrt(200 / 120), rtol=1e-5)

    received = uplink.send(SIGNALS, gain=0.5)
    noise = unit_noise(5, 4)  # of unit variance: snr_db = 0
    np.testing.assert_allclose(received.total, SIGNALS.sum(axis=0) + noise / 0.5, rtol=1e-5)
    np.testing.assert_allclose(received.energy, [[30], [750 / 4]], rtol=1e-6)
    error = np.square(noise / 0.5).sum() / np.square(SIGNALS.sum(axis=0)).sum()
    assert received.diagnostics["nmse"] == pytest.approx(error, rel=1e-4)
    power = np.square(0.5 * SIGNALS.sum(axis=0)).sum() / 4
    assert received.diagnostics["received_snr_db"] == pytest.approx(10 * np.log10(power), rel=1e-5)


@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_two_paths_make_one_carrier_fade_and_truncation_silences_it(engine):
    # carriers at -30 kHz and 0: paths half a period apart cancel on the first, add on the second
    fading = FixedFading([[0.5, 0.5], [1.0, 0.0]], delays=[0.0, 1 / 60e3])
    grid = OfdmGrid(fft_size=2, cp_length=2, guards=(0, 0), dc_null=False)
    link = OfdmLink(
        grid=grid,
        fading=fading,
        truncation=0.1,
        snr_db=np.inf,
        interleaver_seed=None,
        engine=engine,
    )
    uplink = link.open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(uplink.energy(SIGNALS), [[9 + 16], [3000]], rtol=1e-6)
    received = uplink.send(SIGNALS, gain=1.0, enforce=False)
    np.testing.assert_allclose(received.total, [10, 20, 33, 44], rtol=1e-5)
    np.testing.assert_allclose(received.diagnostics["active_fraction"], [0.5, 1])


def test_airtime_and_energy_are_reported():
    signals = np.ones((2, 1_000_000), np.float32)
    link = OfdmLink(csi=PilotCsi(num_pilots=2), fading=NoFading(), snr_db=np.inf)
    uplink = link.open(2, 1_000_000, np.random.default_rng(1))
    received = uplink.send(signals, uplink.max_gain(signals))
    report = received.diagnostics
    assert report["symbols"] == 1250
    assert report["airtime"] == pytest.approx(46.875e-3 + 2 * 37.5e-6)
    assert report["pilot_symbols"] == 2  # a static channel is estimated once
    assert report["pilot_airtime"] == pytest.approx(2 * 37.5e-6)
    np.testing.assert_allclose(report["radiated_energy"], received.energy.sum(axis=1) * 1.125)


def test_a_moving_channel_is_estimated_in_every_slot(rng):
    link = OfdmLink(csi=PilotCsi(num_pilots=2), fading=Rayleigh(speed=1.0), entry_snr_db=np.inf)
    uplink = link.open(1, 30 * 800, rng)  # 30 symbols are 3 slots of 14
    report = uplink.send(np.ones((1, 30 * 800)), 1e-9).diagnostics
    assert report["pilot_symbols"] == 2 * 3


@pytest.mark.parametrize("control", ["inversion", "mmse"])
def test_on_a_moving_channel_the_server_scales_and_corrects_slot_by_slot(control, rng):
    """Read back by hand, element by element, from what the uplink says of its channels."""
    grid = OfdmGrid(fft_size=4, cp_length=4, guards=(0, 0), dc_null=False, symbols_per_slot=2)
    link = OfdmLink(
        grid=grid,
        fading=Rayleigh(speed=3e5),  # so fast that slots are strangers
        control=control,
        correction="active",
        truncation=0.5,
        snr_db=0.0,
    )
    length, seed = 5 * 8, int(rng.integers(2**32))  # 5 symbols: two slots and a half
    signals = rng.standard_normal((3, length)).astype(np.float32)
    draws = np.random.default_rng(seed)
    uplink = link.open(3, length, draws)
    noise = complex_normal(copy.deepcopy(draws), (5, 4), std=np.sqrt(2) / 0.7)
    received = uplink.send(signals, 0.7, enforce=False).total

    one, expected = uplink.medium.precoding, np.empty((5, 4), np.complex64)
    elements = uplink.medium.packing.pack(signals)
    for symbol in range(5):
        now = symbol // 2
        share = one.active[:, now].mean(axis=0) if control == "inversion" else np.ones(4)
        scale = one.scale[0] if control == "inversion" else one.scale[now]
        heard = (one.arrival[:, now] * elements[:, symbol]).sum(axis=0) + noise[symbol] / scale
        expected[symbol] = np.where(share > 0, heard / np.maximum(share, 1e-9), 0)
    np.testing.assert_allclose(
        received, uplink.medium.packing.unpack(expected), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({}, True),
        ({"truncation": 0.5}, True),
        ({"budget": "round", "engine": "sionna"}, True),
        ({"control": "mmse"}, False),
        ({"control": "mmse", "variances": "reported"}, False),
        ({"correction": "active"}, False),
        ({"correction": "expected"}, False),
    ],
)
def test_the_noise_of_the_sum_has_one_level_only_without_scale_and_correction(options, known, rng):
    """sigma_c at a block SNR of 20 dB; otherwise it differs between carriers."""
    uplink = OfdmLink(snr_db=20.0, **options).open(2, 100, rng)
    report = uplink.send(rng.standard_normal((2, 100)), 1e-3, enforce=False).diagnostics
    assert report["noise_std"] == pytest.approx(0.1)
    assert ("sum_noise_std" in report) == known
    assert report.get("sum_noise_std", 0.1) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "slot"}, "^budget must be one of 'symbol', 'round', got 'slot'"),
        ({"engine": "numba"}, "^engine must be one of 'fast', 'sionna', got 'numba'"),
        ({"engine": "Sionna"}, "^engine must be .*, got 'Sionna'; did you mean 'sionna'"),
        ({"grid": 512}, "^grid must be an OfdmGrid, got 512"),
        ({"interleaver_seed": -1}, "^interleaver_seed must be a whole number >= 0, got -1"),
    ],
)
def test_options(options, message):
    for link in (OfdmLink, WaveformLink):
        with pytest.raises(ValueError, match=message):
            link(**options)


def test_a_channel_longer_than_the_prefix_is_refused_with_what_to_do():
    message = (
        r"^fading must fit the cyclic prefix of 4\.17e-06 s \(cp_length = 64\), got a path of "
        r"8\.65e-06 s: give OfdmGrid\(cp_length=133\) or a smaller delay spread .* or use "
        "WaveformLink"
    )
    with pytest.raises(ValueError, match=message):
        OfdmLink(fading=Tdl("C", delay_spread=1e-6))


def test_a_delay_spread_in_microseconds_is_suspected():
    with pytest.raises(ValueError, match=r"a path of 0.0483 s: is the delay spread in seconds\?"):
        OfdmLink(fading=Tdl("A", delay_spread=0.005))
