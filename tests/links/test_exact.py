"""Rounds that a person can work out: channel and noise are given."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink
from phy import NoFading, OfdmGrid, PilotCsi, Rayleigh, Rician, Tdl
from phy.randomness import complex_normal
from tests.links.fixed import FixedFading

TWO = OfdmGrid(fft_size=2, cp_length=0, guards=(0, 0), dc_null=False)  # two carriers: 4 entries
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


def relative(value, truth):
    return np.abs(value - truth).max() / np.abs(truth).max()


@pytest.mark.parametrize("fading", EVERY_FADING, ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 799, 800, 801, 7850, 100_000])
def test_without_noise_ofdm_is_the_ideal_sum(fading, length, rng):
    signals = rng.standard_normal((4, length)).astype(np.float32)
    link = OfdmLink(fading=fading, snr_db=np.inf, truncation=0.0)
    slot = link.open(4, length, rng)
    ideal = IdealLink().open(4, length, rng).send(signals, 1.0).total
    received = slot.send(signals, slot.max_gain(signals))
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
    slot = link.open(4, 1001, rng)
    received = slot.send(signals, slot.max_gain(signals)).total
    assert relative(received, signals.sum(axis=0)) < 1e-5


SIGNALS = np.array([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])


def noise_of(seed, entries):
    """What a link draws from that seed, in its order: real noise of unit variance."""
    pairs = complex_normal(np.random.default_rng(seed), (entries // 2,), std=np.sqrt(2))
    return pairs.view(np.float32)


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
    slot = link.open(2, 4, np.random.default_rng(5))
    # ||s||^2 / (path_gain |h|^2), in the one OFDM symbol of the block
    np.testing.assert_allclose(slot.energy(SIGNALS), [[30 / 0.25], [3000 / 4]], rtol=1e-6)
    np.testing.assert_allclose(slot.budget, [[200], [20_000]])
    np.testing.assert_allclose(slot.load(SIGNALS), [120 / 200, 750 / 20_000], rtol=1e-6)
    np.testing.assert_allclose(slot.max_gain(SIGNALS), np.sqrt(200 / 120), rtol=1e-5)

    received = slot.send(SIGNALS, gain=0.5)
    noise = noise_of(5, 4)  # of unit variance: snr_db = 0
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
    slot = link.open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(slot.energy(SIGNALS), [[9 + 16], [3000]], rtol=1e-6)
    received = slot.send(SIGNALS, gain=1.0, enforce=False)
    np.testing.assert_allclose(received.total, [10, 20, 33, 44], rtol=1e-5)
    np.testing.assert_allclose(received.diagnostics["active_fraction"], [0.5, 1])


def corrected(correction, weights=None):
    link = OfdmLink(
        grid=TWO,
        fading=FixedFading([[1.0], [0.1], [1.0]]),
        truncation=0.1,
        snr_db=np.inf,
        correction=correction,
    )
    slot = link.open(3, 4, np.random.default_rng(5))
    return slot.send(np.ones((3, 4)), 0.1, weights=weights).total


def test_correction_by_those_who_are_active():
    np.testing.assert_allclose(corrected("none"), 2)
    np.testing.assert_allclose(corrected("active"), 3, rtol=1e-6)
    np.testing.assert_allclose(corrected("active", [1, 2, 1]), 2 * 4 / 2, rtol=1e-6)
    np.testing.assert_allclose(corrected("active", [0.1, 0, 0.3]), 2, rtol=1e-6)


def test_correction_by_the_expected_share(rng):
    fading = Rayleigh()
    signals = np.ones((3, 10))
    seed = int(rng.integers(2**32))
    links = [
        OfdmLink(fading=fading, truncation=0.3, snr_db=np.inf, correction=correction)
        for correction in ("none", "expected")
    ]
    plain, divided = (
        link.open(3, 10, np.random.default_rng(seed)).send(signals, 0.01).total for link in links
    )
    np.testing.assert_allclose(divided, plain * np.exp(0.3), rtol=1e-5)


def test_the_expected_share_is_weighted_by_those_it_speaks_of(rng):
    """Clients whose pilots are worse are active more often, so their weight matters."""
    link = OfdmLink(
        fading=Rayleigh(),
        csi=PilotCsi(snr_db=0.0),
        path_gain=[0.1, 1.0],
        truncation=0.5,
        snr_db=np.inf,
    )
    seed = int(rng.integers(2**32))
    chances = np.exp(-0.5 / (1 + np.array([10.0, 1.0])))  # error variances 1 / path gain
    for weights in ([1.0, 0.0], [0.25, 0.75]):
        plain, divided = (
            replace(link, correction=correction)
            .open(2, 10, np.random.default_rng(seed))
            .send(np.ones((2, 10)), 1e-4, weights=weights, enforce=False)
            .total
            for correction in ("none", "expected")
        )
        np.testing.assert_allclose(divided * (chances @ weights), plain, rtol=1e-5, atol=1e-6)


def test_where_nobody_is_active_the_server_reads_zero():
    for correction in ("none", "active"):
        link = OfdmLink(
            grid=TWO,
            fading=FixedFading([[0.1], [0.1]]),
            truncation=0.1,
            snr_db=0.0 if correction == "active" else np.inf,
            correction=correction,
        )
        slot = link.open(2, 4, np.random.default_rng(1))
        received = slot.send(SIGNALS, slot.max_gain(SIGNALS))
        np.testing.assert_array_equal(received.total, 0)
        np.testing.assert_array_equal(received.energy, 0)
        np.testing.assert_array_equal(received.diagnostics["silent"], True)
        assert received.diagnostics["nmse"] == pytest.approx(1)


@pytest.mark.parametrize("link", [FadingLink, OfdmLink])
def test_a_client_with_every_carrier_truncated_sends_nothing_and_is_reported(link):
    options = {"grid": TWO} if link is OfdmLink else {}
    fading = FixedFading([[1.0], [0.0]])
    slot = link(fading=fading, truncation=0.1, snr_db=np.inf, **options).open(
        2, 4, np.random.default_rng(1)
    )
    received = slot.send(SIGNALS, slot.max_gain(SIGNALS))
    np.testing.assert_array_equal(received.diagnostics["silent"], [False, True])
    np.testing.assert_array_equal(received.energy[1], 0)
    np.testing.assert_allclose(received.total, SIGNALS[0], rtol=1e-6)


def test_flat_fading_by_hand_is_the_papers_extension():
    """z = beta s / h, ||z||^2 <= P; an estimate off by a turn turns I into Q."""

    class Turned:
        delay, pilots_per_slot = 0.0, 0

        def estimate(self, response, grid, path_gain, rng):
            return response * np.complex64(-1j)

        def error_variance(self, grid, path_gain):
            return np.zeros((len(path_gain), 1))

    fading = FixedFading([[2.0], [0.5j]])
    slot = FadingLink(fading=fading, snr_db=0.0, power=5.0).open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(slot.energy(SIGNALS), [[30 / 4], [3000 / 0.25]])
    np.testing.assert_allclose(slot.max_gain(SIGNALS), np.sqrt(5 / 12_000), rtol=1e-5)
    total = slot.send(SIGNALS, gain=0.02).total
    np.testing.assert_allclose(total, SIGNALS.sum(axis=0) + noise_of(5, 4) / 0.02, rtol=1e-5)

    for length in (4, 3):
        link = FadingLink(fading=fading, snr_db=np.inf, csi=Turned())
        slot = link.open(2, length, np.random.default_rng(5))
        total = slot.send(SIGNALS[:, :length], 1.0, enforce=False).total
        # (I + jQ) j = -Q + jI; an odd vector's last Q is empty
        expected = np.array([-22, 11, -44, 33])[:length]
        if length == 3:
            expected[2] = 0
        np.testing.assert_allclose(total, expected, atol=1e-5)


def test_gaussian_link_by_hand():
    slot = GaussianLink(snr_db=0.0, power=[30.0, 12_000.0]).open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(slot.energy(SIGNALS), [[30], [3000]])
    np.testing.assert_allclose(slot.max_gain(SIGNALS), 1, rtol=1e-5)
    received = slot.send(SIGNALS, 0.5)
    expected = SIGNALS.sum(axis=0) + noise_of(5, 4) / 0.5
    np.testing.assert_allclose(received.total, expected, rtol=1e-6)
    np.testing.assert_allclose(received.energy, [[7.5], [750]])
    assert received.diagnostics["airtime"] == pytest.approx(2 / 12e6)


@pytest.mark.parametrize("length", [2, 6, 801])
def test_padding_takes_no_share_of_the_optimal_controls_power(length):
    """As over the flat link, which has no padding."""
    fading, signals = FixedFading([[0.3], [2.0]]), np.ones((2, length))
    options = {"fading": fading, "entry_snr_db": 0.0, "control": "mmse"}
    flat = FadingLink(**options).open(2, length, np.random.default_rng(1))
    ofdm = OfdmLink(budget="round", **options).open(2, length, np.random.default_rng(1))
    np.testing.assert_allclose(ofdm.energy(signals), flat.energy(signals), rtol=1e-5)


def test_the_optimal_control_truncates_nothing(rng):
    signals = rng.standard_normal((4, 500)).astype(np.float32)
    link = OfdmLink(control="mmse", truncation=5.0, correction="active", snr_db=np.inf)
    slot = link.open(4, 500, rng)
    received = slot.send(signals, slot.max_gain(signals))
    assert relative(received.total, signals.sum(axis=0)) < 1e-5
    np.testing.assert_array_equal(received.diagnostics["active_fraction"], 1)


def test_the_optimal_control_trades_alignment_for_noise_by_hand():
    # P per element is power / 2 elements = 4; N0 = 2 sigma^2 = 2
    link = OfdmLink(
        grid=TWO,
        fading=FixedFading([[0.5]]),
        truncation=0.0,
        snr_db=0.0,
        power=8.0,
        control="mmse",
        interleaver_seed=None,
    )
    slot = link.open(1, 4, np.random.default_rng(5))
    # q = sqrt(4) 0.5 = 1, eta = ((2 + 1) / 1)^2 = 9: sqrt(p) h / 3 = 1/3 of the signal arrives
    signals = SIGNALS[:1]
    np.testing.assert_allclose(slot.energy(signals), [[4 * 30]], rtol=1e-6)
    received = slot.send(signals, 0.2)
    expected = signals[0] / 3 + noise_of(5, 4) / (3 * 0.2)
    np.testing.assert_allclose(received.total, expected, rtol=1e-5)
    power = np.square(0.2 * signals).sum() / 4  # |h| sqrt(p) = 1
    assert received.diagnostics["received_snr_db"] == pytest.approx(10 * np.log10(power), rel=1e-5)


def test_per_symbol_and_per_round_budgets():
    signals = np.zeros((1, 8), np.float32)
    signals[0, :4] = 3.0  # all energy in the first of two symbols
    options = {"grid": TWO, "fading": NoFading(), "power": 2.0, "interleaver_seed": None}
    symbol = OfdmLink(budget="symbol", **options).open(1, 8, np.random.default_rng(1))
    whole = OfdmLink(budget="round", **options).open(1, 8, np.random.default_rng(1))
    np.testing.assert_allclose(symbol.budget, [[1, 1]])
    np.testing.assert_allclose(whole.budget, [[2]])
    np.testing.assert_allclose(symbol.energy(signals), [[36, 0]])
    np.testing.assert_allclose(whole.energy(signals), [[36]])
    np.testing.assert_allclose(symbol.max_gain(signals) ** 2, 1 / 36, rtol=1e-5)
    np.testing.assert_allclose(whole.max_gain(signals) ** 2, 2 / 36, rtol=1e-5)
    sent = whole.send(signals, whole.max_gain(signals))
    np.testing.assert_allclose(sent.energy, [[2, 0]], rtol=1e-5)  # per symbol, always


def test_airtime_and_energy_are_reported():
    signals = np.ones((2, 1_000_000), np.float32)
    link = OfdmLink(csi=PilotCsi(num_pilots=2), fading=NoFading(), snr_db=np.inf)
    slot = link.open(2, 1_000_000, np.random.default_rng(1))
    received = slot.send(signals, slot.max_gain(signals))
    report = received.diagnostics
    assert report["symbols"] == 1250
    assert report["airtime"] == pytest.approx(46.875e-3 + 2 * 37.5e-6)
    assert report["pilot_symbols"] == 2  # a static channel is estimated once
    assert report["pilot_airtime"] == pytest.approx(2 * 37.5e-6)
    np.testing.assert_allclose(report["radiated_energy"], received.energy.sum(axis=1) * 1.125)


def test_a_moving_channel_is_estimated_in_every_slot(rng):
    link = OfdmLink(csi=PilotCsi(num_pilots=2), fading=Rayleigh(speed=1.0), entry_snr_db=np.inf)
    slot = link.open(1, 30 * 800, rng)  # 30 symbols are 3 slots of 14
    report = slot.send(np.ones((1, 30 * 800)), 1e-9).diagnostics
    assert report["pilot_symbols"] == 2 * 3


def test_both_snrs_are_reported_and_either_may_be_given(rng):
    signals = np.ones((2, 1000), np.float32)
    for options in ({"snr_db": 40.0}, {"entry_snr_db": 10.0}):
        for link in (
            GaussianLink(**options),
            FadingLink(fading=NoFading(), **options),
            OfdmLink(fading=NoFading(), **options),
        ):
            report = link.open(2, 1000, rng).send(signals, 1e-4).diagnostics
            assert report["snr_db"] == pytest.approx(40)
            assert report["entry_snr_db"] == pytest.approx(10)


def test_extreme_but_finite_signals_are_summed_and_metered(rng):
    for size in (1e-30, 1e-18, 1e18, 1e30):
        signals = (size * rng.standard_normal((3, 500))).astype(np.float32)
        for link in (OfdmLink(snr_db=np.inf, truncation=0.0), GaussianLink(snr_db=np.inf)):
            slot = link.open(3, 500, rng)
            gain = slot.max_gain(signals)
            received = slot.send(signals, gain)
            assert relative(received.total, signals.sum(axis=0)) < 1e-5
            assert 0.999 < (received.energy.sum(axis=-1) / slot.budget.sum(axis=-1)).max() < 1.0001


def test_all_zero_signals_are_sent_with_infinite_gain_and_no_noise(rng):
    zeros = np.zeros((3, 50), np.float32)
    for link in (IdealLink(), GaussianLink(), FadingLink(), OfdmLink(), OfdmLink(control="mmse")):
        slot = link.open(3, 50, rng)
        assert np.isinf(slot.max_gain(zeros))
        received = slot.send(zeros, np.inf)
        np.testing.assert_array_equal(received.total, 0)
        np.testing.assert_array_equal(received.energy, 0)
        assert received.diagnostics["nmse"] == 0
        assert received.diagnostics.get("received_snr_db", -np.inf) == -np.inf


def test_results_keep_the_type_of_the_signals(rng):
    for dtype in (np.float32, np.float64):
        for link in (IdealLink(), GaussianLink(), FadingLink(), OfdmLink()):
            signals = np.ones((2, 9), dtype)
            assert link.open(2, 9, rng).send(signals, 1e-3).total.dtype == dtype


@pytest.mark.parametrize("control", ["inversion", "mmse"])
def test_on_a_moving_channel_the_server_scales_and_corrects_slot_by_slot(control, rng):
    """Read back by hand, element by element, from what the slot says of its channels."""
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
    slot = link.open(3, length, draws)
    noise = complex_normal(copy.deepcopy(draws), (5, 4), std=np.sqrt(2) / 0.7)
    received = slot.send(signals, 0.7, enforce=False).total

    one, expected = slot.precodings[0], np.empty((5, 4), np.complex64)
    elements = slot.packing.pack(signals)
    for symbol in range(5):
        now = symbol // 2
        share = one.active[:, now].mean(axis=0) if control == "inversion" else np.ones(4)
        scale = one.scale[0] if control == "inversion" else one.scale[now]
        heard = (one.weight[:, now] * elements[:, symbol]).sum(axis=0) + noise[symbol] / scale
        expected[symbol] = np.where(share > 0, heard / np.maximum(share, 1e-9), 0)
    np.testing.assert_allclose(received, slot.packing.unpack(expected), rtol=1e-4, atol=1e-4)
