"""An opened link: budgets, checks and bookkeeping, whatever its medium."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from links.uplink import (
    ADDED_AT_ONCE,
    Received,
    Uplink,
    exact_sum,
    relative_variances,
    squared_norm,
)
from phy import NoFading, NoisyCsi, OfdmGrid, Rayleigh, Tdl
from phy.impairments import CarrierOffset

EVERY = [
    IdealLink(),
    GaussianLink(),
    FadingLink(),
    OfdmLink(),
    OfdmLink(control="mmse"),
    WaveformLink(),
    OrthogonalLink(),
]
NAMES = [f"{type(link).__name__}-{getattr(link, 'control', '')}" for link in EVERY]
LIMITED = [link for link in EVERY if not isinstance(link, IdealLink | OrthogonalLink)]


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
@pytest.mark.parametrize(
    ("signals", "gain", "options", "message"),
    [
        (np.ones((2, 4)), 1.0, {}, r"^signals must be of shape \(2, 5\), got shape \(2, 4\)"),
        (np.ones((1, 2, 5)), 1.0, {}, r"^signals must be of shape .*, got shape \(1, 2, 5\)"),
        (np.ones((2, 5), complex), 1.0, {}, "^signals must be real .* array of complex128"),
        (np.full((2, 5), "x"), 1.0, {}, "^signals must be real numbers, got an array of <U1"),
        ([[1.0], [1.0, 2.0]], 1.0, {}, "^signals must be an array of numbers"),
        (np.ones((2, 5), bool), 1.0, {}, "^signals must be real numbers, got an array of bool"),
        (np.ones((2, 5)), "1", {}, "^gain must be a number from .*, got '1'"),
        (np.ones((2, 5)), 1j, {}, "^gain must be a number from .*, got 1j"),
        (np.ones((2, 5)), 1e-90, {}, r"^gain must be a number from 1e-12 to 1e\+12.* got 1e-90"),
        (np.ones((2, 5)), 2e15, {}, r"^gain must be .* 1e\+12, or inf for no noise, got 2"),
        (np.ones((2, 5)), 9e-13, {}, "^gain must be a number from 1e-12 to .* got 9e-13"),
        (np.ones((2, 5)), 1e-9, {"weights": "ab"}, "^weights must be real .* array of <U2"),
        (np.ones((2, 5)), 0.0, {}, r"^gain must be .* got 0\.0"),
        (np.ones((2, 5)), -1.0, {}, r"^gain must be .* got -1\.0"),
        (np.ones((2, 5)), np.nan, {}, "^gain must be .* got nan"),
        (np.ones((2, 5)), [1.0, 1.0], {}, r"^gain must be a number .* got \[1\.0, 1\.0\]"),
        (np.ones((2, 5)), 1e-9, {"weights": [1.0]}, r"^weights must be one .* shape \(1,\)"),
        (np.ones((2, 5)), 1e-9, {"weights": [1.0, -1.0]}, r"^weights .* got \[1\.0, -1\.0\]"),
        (np.ones((2, 5)), 1e-9, {"weights": [0.0, 0.0]}, r"^weights .* got \[0\.0, 0\.0\]"),
        (np.ones((2, 5)), 1e-9, {"weights": [np.nan, 1.0]}, r"^weights .* got \[nan, 1\.0\]"),
    ],
)
def test_sending(link, signals, gain, options, message):
    rng = np.random.default_rng(1)
    uplink = link.open(2, 5, rng)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match=message):
        uplink.send(signals, gain, **options)
    assert rng.bit_generator.state == before  # a refused round leaves no trace


@pytest.mark.parametrize("link", LIMITED, ids=lambda link: type(link).__name__)
def test_a_refused_round_draws_nothing_and_names_the_client(link):
    """By its global index; what it would have taken is recorded on request."""
    rng = np.random.default_rng(1)
    power = [1.0, 1.0, 1.0, 1e-6, 1.0]
    options = {} if isinstance(link, GaussianLink) else {"fading": NoFading()}
    uplink = type(link)(power=power, **options).open(2, 5, rng, clients=[0, 3])
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match=r"^client 3 must keep its budget, got a load of 5\d\d"):
        uplink.send(np.ones((2, 5)), 0.01)
    assert rng.bit_generator.state == before
    spent = uplink.send(np.ones((2, 5)), 0.01, enforce=False).energy
    np.testing.assert_allclose(spent, 5e-4, rtol=1e-5)
    assert rng.bit_generator.state != before


def test_an_infinite_gain_for_something_is_refused(rng):
    uplink = OfdmLink(fading=NoFading()).open(2, 5, rng)
    for enforce in (True, False):
        with pytest.raises(ValueError, match="^gain must be finite for signals that take energy"):
            uplink.send(np.ones((2, 5)), np.inf, enforce=enforce)


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_all_zero_signals_are_sent_with_infinite_gain_and_no_noise(link, rng):
    zeros = np.zeros((3, 50), np.float32)
    uplink = link.open(3, 50, rng)
    assert np.isinf(uplink.max_gain(zeros))
    received = uplink.send(zeros, np.inf)
    np.testing.assert_array_equal(received.total, 0)
    if not isinstance(link, OrthogonalLink):  # whose energy is that of its bits
        np.testing.assert_array_equal(received.energy, 0)
    assert received.diagnostics["nmse"] == 0
    assert received.diagnostics.get("received_snr_db", -np.inf) == -np.inf


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_keep_the_type_of_the_signals(link, dtype, rng):
    uplink = link.open(2, 9, rng)
    for size in (1.0, 1e-12, 1e10):
        signals = np.full((2, 9), size, dtype)
        assert uplink.send(signals, 1e-12, enforce=False).total.dtype == dtype
    whole = np.ones((2, 9), np.int32)
    assert uplink.send(whole, 1e-3, enforce=False).total.dtype == np.float64
    assert isinstance(uplink.max_gain(whole), float)


@pytest.mark.parametrize("link", LIMITED, ids=lambda link: type(link).__name__)
def test_an_uplink_says_who_takes_part_and_what_they_may_spend(link, rng):
    uplink = link.open(2, 2000, rng, clients=[5, 3])
    assert isinstance(uplink, Uplink)
    np.testing.assert_array_equal(uplink.clients, [5, 3])
    assert (uplink.length, uplink.moving) == (2000, False)
    per_symbol = isinstance(link, OfdmLink | WaveformLink)
    np.testing.assert_allclose(
        uplink.budget, np.full((2, 3), 1 / 3) if per_symbol else np.ones((2, 1))
    )
    signals = rng.standard_normal((2, 2000))
    energy = uplink.energy(signals)
    assert energy.shape == uplink.budget.shape
    np.testing.assert_allclose(uplink.load(signals), (energy / uplink.budget).max(axis=1))
    gain = uplink.max_gain(signals)
    assert gain == pytest.approx(1 / np.sqrt(uplink.load(signals).max()), rel=1e-5)
    assert uplink.send(signals, gain).energy.shape == uplink.budget.shape


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
def test_an_uplink_says_whether_its_channel_moves(link, rng):
    assert link(fading=Rayleigh(speed=3.0)).open(2, 9, rng).moving
    assert not link(fading=Rayleigh()).open(2, 9, rng).moving


class Doubling:
    """A medium of a user's own: the sum twice, at a cost of 3 per unit of energy."""

    def energy(self, signals):
        return 3 * np.square(signals).sum(axis=1, keepdims=True)

    def superpose(self, signals):
        return 2 * signals.sum(axis=0), self.energy(signals)

    def receive(self, arrived, gain, spent, weights):
        return Received(arrived, {"told": (gain, spent.sum(), weights)})


def test_a_medium_is_three_methods():
    uplink = Uplink(np.arange(2), 3, np.array([[12.0], [27.0]]), Doubling())
    signals = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(uplink.energy(signals), [[6], [27]])
    np.testing.assert_allclose(uplink.load(signals), [0.5, 1.0])
    assert uplink.max_gain(signals) == pytest.approx(1.0, rel=2e-6)
    received = uplink.send(signals, 0.5, weights=[1, 3])
    np.testing.assert_allclose(received.total, [2, 2, 6])
    np.testing.assert_allclose(received.energy, [[1.5], [6.75]])
    assert received.diagnostics["nmse"] == 1.0
    gain, spent, weights = received.diagnostics["told"]
    assert (gain, spent) == (0.5, 8.25)
    np.testing.assert_allclose(weights, [0.25, 0.75])
    assert uplink.send(signals, 0.5).diagnostics["told"][2] is None


def test_sums_and_norms_of_long_vectors_are_exact_to_float32(rng):
    values = rng.standard_normal(3 * ADDED_AT_ONCE + 5).astype(np.float32)
    assert squared_norm(values) == pytest.approx(np.square(values, dtype=float).sum(), rel=1e-5)
    assert squared_norm(np.full(7, 1e30, np.float32)) == pytest.approx(7e60, rel=1e-6)
    assert squared_norm(np.full(7, 1e30)) == pytest.approx(7e60, rel=1e-12)
    signals = rng.standard_normal((5, 100))
    np.testing.assert_allclose(exact_sum(signals), signals.sum(axis=0), atol=1e-12)


def test_order_and_type_of_the_signals_do_not_matter(rng):
    signals = rng.standard_normal((3, 1000)).astype(np.float32)
    uplink = OfdmLink(snr_db=np.inf).open(3, 1000, rng)
    expected = uplink.send(signals, 1e-6).total
    strided = np.repeat(signals, 2, axis=1)[:, ::2]
    for same in (np.asfortranarray(signals), strided, signals.astype(np.float64)):
        np.testing.assert_array_equal(uplink.send(same, 1e-6).total.astype(np.float32), expected)


def test_per_symbol_and_per_round_budgets():
    two = OfdmGrid(fft_size=2, cp_length=0, guards=(0, 0), dc_null=False)
    signals = np.zeros((1, 8), np.float32)
    signals[0, :4] = 3.0  # all energy in the first of two symbols
    options = {"grid": two, "fading": NoFading(), "power": 2.0, "interleaver_seed": None}
    for link in (OfdmLink, WaveformLink):
        symbol = link(budget="symbol", **options).open(1, 8, np.random.default_rng(1))
        whole = link(budget="round", **options).open(1, 8, np.random.default_rng(1))
        np.testing.assert_allclose(symbol.budget, [[1, 1]])
        np.testing.assert_allclose(whole.budget, [[2]])
        np.testing.assert_allclose(symbol.energy(signals), [[36, 0]])
        np.testing.assert_allclose(whole.energy(signals), [[36]])
        np.testing.assert_allclose(symbol.max_gain(signals) ** 2, 1 / 36, rtol=1e-5)
        np.testing.assert_allclose(whole.max_gain(signals) ** 2, 2 / 36, rtol=1e-5)
        sent = whole.send(signals, whole.max_gain(signals))
        np.testing.assert_allclose(sent.energy, [[2, 0]], rtol=1e-5)  # per symbol, always


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, OrthogonalLink, WaveformLink])
def test_a_round_that_cannot_be_opened_draws_nothing(link, rng):
    state = rng.bit_generator.state
    for wrong in ({"power": (1.0, 1.0)}, {"path_gain": (1.0, 1.0)}):
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be a scalar or one value"):
            link(**wrong).open(3, 10, rng)
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relative_variances_of_signals(dtype):
    signals = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.5], [1e-8, 0.0]], dtype)
    np.testing.assert_allclose(relative_variances(signals), [1, 0, 0.25, 1e-12], rtol=1e-6)
    np.testing.assert_allclose(relative_variances(1e11 * signals[:3]), [1, 0, 0.25], rtol=1e-6)
    np.testing.assert_array_equal(relative_variances(0 * signals), 1)
    for bad in (np.nan, np.inf):  # which the uplink refuses by name
        np.testing.assert_array_equal(relative_variances(np.array([[1, bad], [1, 0]], dtype)), 1)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_an_uplink_of_some_clients_has_their_channels(link, moving, rng):
    """Quality, budget and energy are those of the whole; nothing is drawn."""
    if hasattr(link, "fading") and moving:
        link = replace(link, fading=Tdl("A", speed=3.0))
    if hasattr(link, "power"):
        link = replace(link, power=[1.0, 2.0, 3.0, 4.0], path_gain=[0.5, 1.0, 2.0, 4.0])
    if hasattr(link, "csi"):
        link = replace(link, csi=NoisyCsi(0.1))
    whole = link.open(4, 6, rng)
    places, state = np.array([1, 3]), rng.bit_generator.state
    some = whole.only(places)
    assert rng.bit_generator.state == state
    assert some.clients.tolist() == [1, 3]
    assert some.moving == whole.moving
    np.testing.assert_allclose(some.quality, whole.quality[places])
    np.testing.assert_allclose(some.budget, whole.budget[places])
    signals = rng.standard_normal((4, 6)).astype(np.float32)
    if getattr(link, "control", "") != "mmse":  # whose control depends on all who send
        np.testing.assert_allclose(some.energy(signals[places]), whole.energy(signals)[places])
    sent = some.send(signals[places], min(some.max_gain(signals[places]), 1.0))
    assert sent.total.shape == (6,)
    for name in ("active_fraction", "silent", "radiated_energy"):
        assert np.shape(sent.diagnostics[name]) == (2,)


def test_hardware_stays_with_a_device():
    """Without fading and noise, the offset of a client's carrier is the same in any company."""
    link = WaveformLink(
        fading=NoFading(), snr_db=np.inf, transmit=(CarrierOffset(std=0.05),), budget="round"
    )
    devices = np.random.default_rng(5)

    def heard(clients, place):
        uplink = link.open(
            len(clients), 8, np.random.default_rng(), clients=clients, device_rng=devices
        )
        signals = np.zeros((len(clients), 8), np.float32)
        signals[place] = 1
        return uplink.send(signals, 0.1).total

    alone = heard([7], 0)
    assert np.abs(alone - 1).max() > 1e-4
    np.testing.assert_allclose(heard([2, 7, 9], 1), alone, atol=1e-5)
    assert np.abs(heard([2, 7, 9], 0) - alone).max() > 1e-4


def test_an_uplink_that_cannot_be_reopened():
    uplink = Uplink(np.arange(2), 3, np.ones((2, 1)), None)
    with pytest.raises(ValueError, match="the link of this uplink cannot reopen it for some"):
        uplink.only(np.array([0]))
