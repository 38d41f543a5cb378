"""What links through fading share: truncation, corrections, optimal control, and their options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, OfdmLink, WaveformLink
from links.faded import Correction
from phy import OfdmGrid, PilotCsi, Rayleigh, Tdl
from tests.links.fixed import SIGNALS, TWO, FixedFading, relative, unit_noise
from tests.links.test_waveform import EVERY_IMPAIRMENT


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
        ({"variances": "known"}, "^variances must be one of 'equal', 'reported', got 'known'"),
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


OPTIMAL = [
    FadingLink(snr_db=10.0, control="mmse"),
    OfdmLink(entry_snr_db=10.0, control="mmse", fading=Tdl("A", speed=20.0), csi=PilotCsi()),
    OfdmLink(entry_snr_db=10.0, control="mmse", budget="round", path_gain=[0.1, 1.0, 5.0]),
    OfdmLink(entry_snr_db=10.0, control="mmse", engine="sionna"),
    WaveformLink(entry_snr_db=10.0, control="mmse"),
]


@pytest.mark.parametrize("link", OPTIMAL, ids=str)
def test_reports_of_equal_norms_change_nothing(link, rng):
    signs = rng.choice([-1.0, 1.0], size=(3, 901))
    signals = (signs * rng.standard_normal(901)).astype(np.float32)
    seed = int(rng.integers(2**32))
    results = []
    for variances in ("equal", "reported"):
        uplink = replace(link, variances=variances).open(3, 901, np.random.default_rng(seed))
        gain = uplink.max_gain(signals)
        results.append((gain, uplink.energy(signals), uplink.send(signals, gain)))
    (gain, energy, sent), (same_gain, same_energy, same_sent) = results
    assert gain == same_gain
    np.testing.assert_array_equal(energy, same_energy)
    np.testing.assert_array_equal(sent.total, same_sent.total)
    np.testing.assert_array_equal(sent.energy, same_sent.energy)


@pytest.mark.parametrize("link", OPTIMAL, ids=str)
def test_reported_norms_keep_every_budget_and_lessen_the_error(link, rng):
    """What a client does follows from ratios of norms, so a common factor changes nothing."""
    signals = rng.standard_normal((3, 901)).astype(np.float32) * np.float32([[1.0], [0.1], [0.02]])
    seed = int(rng.integers(2**32))
    uplink = replace(link, variances="reported").open(3, 901, np.random.default_rng(seed))
    gain = uplink.max_gain(signals)
    sent = uplink.send(signals, gain)
    budget = np.broadcast_to(uplink.budget, uplink.energy(signals).shape)
    spent = gain**2 * uplink.energy(signals)
    assert (spent <= budget * (1 + 1e-5)).all()
    assert (spent / budget).max() > 0.999
    np.testing.assert_allclose(uplink.energy(4 * signals), 16 * uplink.energy(signals), rtol=1e-6)
    equal = link.open(3, 901, np.random.default_rng(seed))
    weak_share = sent.energy[1:].sum() / sent.energy.sum()
    other = equal.send(signals, equal.max_gain(signals))
    assert weak_share > other.energy[1:].sum() / other.energy.sum()


@pytest.mark.parametrize("link", OPTIMAL, ids=str)
def test_clients_without_a_signal_report_zero_and_take_no_part(link, rng):
    link = replace(link, variances="reported", path_gain=1.0)
    signals = rng.standard_normal((3, 901)).astype(np.float32)
    signals[1] = 0
    uplink = link.open(3, 901, rng)
    sent = uplink.send(signals, uplink.max_gain(signals))
    assert np.isfinite(sent.total).all()
    np.testing.assert_array_equal(sent.energy[1], 0)
    assert (sent.energy[[0, 2]].sum(axis=1) > 0).all()
    nothing = uplink.send(0 * signals, uplink.max_gain(0 * signals))
    np.testing.assert_array_equal(nothing.total, 0)


@pytest.mark.parametrize("link", OPTIMAL, ids=str)
def test_one_client_has_nothing_to_compare_its_norm_with(link, rng):
    link, seed = replace(link, path_gain=1.0), int(rng.integers(2**32))
    signals = 1e-3 * rng.standard_normal((1, 901)).astype(np.float32)
    totals = []
    for variances in ("equal", "reported"):
        uplink = replace(link, variances=variances).open(1, 901, np.random.default_rng(seed))
        totals.append(uplink.send(signals, uplink.max_gain(signals)).total)
    np.testing.assert_array_equal(*totals)


@pytest.mark.parametrize("link", OPTIMAL, ids=str)
def test_a_prepared_uplink_keeps_its_control(link, rng):
    """A client that sends half of what it reported takes a quarter of the energy."""
    signals = rng.standard_normal((3, 901)).astype(np.float32) * np.float32([[1.0], [0.3], [0.02]])
    uplink = replace(link, variances="reported").open(3, 901, rng)
    prepared = uplink.prepared(signals)
    energy, less = prepared.energy(signals), signals * np.float32([[1.0], [0.5], [1.0]])
    np.testing.assert_array_equal(energy, uplink.energy(signals))
    np.testing.assert_allclose(prepared.energy(less), energy * [[1], [0.25], [1]], rtol=1e-5)
    np.testing.assert_array_equal(prepared.quality, uplink.quality)
    same = link.open(3, 901, rng)
    assert same.prepared(signals) is same


def test_a_client_that_reports_half_of_its_norm_amplifies_it_twice_as_much():
    """If its channel is so weak that it sends with full power, and it has not reported before."""
    link = FadingLink(
        fading=FixedFading([[1.0], [0.1]]), snr_db=0.0, control="mmse", variances="reported"
    )
    uplink = link.open(2, 2, np.random.default_rng(1))
    whole, half = np.ones((2, 2)), np.array([[1.0, 1.0], [0.5, 0.5]])
    np.testing.assert_allclose(uplink.energy(half), uplink.energy(whole), rtol=1e-6)
    fixed = uplink.prepared(whole)
    np.testing.assert_allclose(fixed.energy(half), uplink.energy(whole) * [[1], [0.25]], rtol=1e-6)


@pytest.mark.parametrize("pilots", [0, 2])
def test_reported_norms_through_every_impairment(pilots, rng):
    grid = OfdmGrid(fft_size=64, cp_length=32, guards=(5, 4), pilots=pilots)
    link = WaveformLink(
        grid=grid, entry_snr_db=10.0, control="mmse", variances="reported", **EVERY_IMPAIRMENT
    )
    signals = rng.standard_normal((3, 501)).astype(np.float32) * np.float32([[1.0], [0.1], [0.0]])
    uplink = link.open(3, 501, rng)
    sent = uplink.send(signals, uplink.max_gain(signals))
    assert np.isfinite(sent.total).all()
    assert (sent.energy <= uplink.budget * (1 + 1e-5)).all()
    np.testing.assert_array_equal(sent.energy[2], 0)


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
