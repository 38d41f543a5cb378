"""What links through fading share: truncation, corrections, optimal control, and their options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, OfdmLink, WaveformLink
from links.faded import Correction
from phy import PilotCsi, Rayleigh
from tests.links.fixed import SIGNALS, TWO, FixedFading, relative, unit_noise


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncation": -0.1}, r"^truncation must be a finite number >= 0, got -0\.1"),
        ({"truncation": np.inf}, "^truncation must be a finite number >= 0, got inf"),
        ({"control": np.array(["mmse", "x"])}, "^control must be one of .*, got array"),
        (
            {"correction": "maybe"},
            "^correction must be one of 'none', 'expected', 'active', got 'maybe'",
        ),
        ({"correction": "Active"}, "^correction must be .*, got 'Active'; did you mean 'active'"),
        ({"control": "zf"}, "^control must be one of 'inversion', 'mmse', got 'zf'"),
        (
            {"fading": Rayleigh},
            "^fading must be an instance of .* such as Rayleigh.*, got <class",
        ),
        (
            {"fading": None},
            "^fading must be an instance of .* such as Rayleigh.*, got None",
        ),
        ({"csi": None}, "^csi must be an instance of .*such as PerfectCsi.*, got None"),
        ({"csi": PilotCsi}, "^csi must be an instance of .*such as PerfectCsi.*, got <class"),
        (
            {"fading": FixedFading([[1.0]]), "correction": "expected"},
            "^correction must be 'active' or 'none' with FixedFading.* got 'expected'",
        ),
    ],
)
def test_fading_options(link, options, message):
    with pytest.raises(ValueError, match=message):
        link(**options)


def corrected(correction, weights=None):
    link = OfdmLink(
        grid=TWO,
        fading=FixedFading([[1.0], [0.1], [1.0]]),
        truncation=0.1,
        snr_db=np.inf,
        correction=correction,
    )
    uplink = link.open(3, 4, np.random.default_rng(5))
    return uplink.send(np.ones((3, 4)), 0.1, weights=weights).total


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
        uplink = link.open(2, 4, np.random.default_rng(1))
        received = uplink.send(SIGNALS, uplink.max_gain(SIGNALS))
        np.testing.assert_array_equal(received.total, 0)
        np.testing.assert_array_equal(received.energy, 0)
        np.testing.assert_array_equal(received.diagnostics["silent"], True)
        assert received.diagnostics["nmse"] == pytest.approx(1)


@pytest.mark.parametrize("link", [FadingLink, OfdmLink])
def test_a_client_with_every_carrier_truncated_sends_nothing_and_is_reported(link):
    options = {"grid": TWO} if link is OfdmLink else {}
    fading = FixedFading([[1.0], [0.0]])
    uplink = link(fading=fading, truncation=0.1, snr_db=np.inf, **options).open(
        2, 4, np.random.default_rng(1)
    )
    received = uplink.send(SIGNALS, uplink.max_gain(SIGNALS))
    np.testing.assert_array_equal(received.diagnostics["silent"], [False, True])
    np.testing.assert_array_equal(received.energy[1], 0)
    np.testing.assert_allclose(received.total, SIGNALS[0], rtol=1e-6)


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
    uplink = link.open(4, 500, rng)
    received = uplink.send(signals, uplink.max_gain(signals))
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
    uplink = link.open(1, 4, np.random.default_rng(5))
    # q = sqrt(4) 0.5 = 1, eta = ((2 + 1) / 1)^2 = 9: sqrt(p) h / 3 = 1/3 of the signal arrives
    signals = SIGNALS[:1]
    np.testing.assert_allclose(uplink.energy(signals), [[4 * 30]], rtol=1e-6)
    received = uplink.send(signals, 0.2)
    expected = signals[0] / 3 + unit_noise(5, 4) / (3 * 0.2)
    np.testing.assert_allclose(received.total, expected, rtol=1e-5)
    power = np.square(0.2 * signals).sum() / 4  # |h| sqrt(p) = 1
    assert received.diagnostics["received_snr_db"] == pytest.approx(10 * np.log10(power), rel=1e-5)


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
@pytest.mark.parametrize(
    ("written", "meant"), [("Truncation", "truncation"), ("fadings", "fading"), ("CSI", "csi")]
)
def test_a_misspelt_option_is_answered_with_the_nearest(link, written, meant):
    with pytest.raises(TypeError, match=f"has no option '{written}'; did you mean '{meant}'"):
        link(**{written: 1})


def test_factors_of_each_correction_by_hand():
    """One over the weight of those heard, carrier by carrier; 0 where nobody is."""
    active = np.array([[[True, True, False]], [[True, False, False]]])
    weights = np.array([0.25, 0.75])
    assert Correction("none").factor(active, weights) is None
    np.testing.assert_allclose(Correction("active").factor(active, weights), [[1, 4, 0]])
    np.testing.assert_allclose(Correction("active").factor(active, None), [[1, 2, 0]])
    chance = np.array([[0.5, 0.5, 1.0], [0.5, 1.0, 1.0]])
    expected = Correction("expected", chance)
    np.testing.assert_allclose(expected.factor(active, weights), [[2, 1 / 0.875, 1]])


def test_no_correction_where_nothing_is_truncated():
    for options in ({"correction": "none"}, {"correction": "active", "control": "mmse"}):
        link = OfdmLink(**options)
        assert Correction.of(link, link.grid, np.ones(2)).kind == "none"
    link = OfdmLink(correction="expected", truncation=0.3)
    found = Correction.of(link, link.grid, np.ones(2)).active_probability
    np.testing.assert_allclose(found, np.full((2, 400), np.exp(-0.3)))
