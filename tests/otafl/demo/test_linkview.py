"""What the page shows of a round is what the link did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from otafl.demo import linkview, words
from otafl.demo.linkview import GRID, LENGTH, SYMBOLS, look_at
from otafl.demo.setting import FADINGS, Setting

PLAIN = Setting(clients=4, fading="Rayleigh, flat", truncation=0.0)

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


@pytest.fixture(autouse=True)
def all_elements(monkeypatch):
    monkeypatch.setattr(linkview, "SHOWN_ELEMENTS", LENGTH // 2)


@pytest.mark.parametrize("setting", [PLAIN, FAULTY, Setting(clients=4)])
def test_what_arrives_of_each_adds_up_to_the_sum(setting):
    """All four clients are shown, and at this SNR there is next to no noise."""
    view = look_at(replace(setting, entry_snr_db=150.0), seed=3)
    np.testing.assert_allclose(view.arrived.sum(axis=0), view.received_sum, atol=2e-4)


@pytest.mark.parametrize("setting", [PLAIN, FAULTY, Setting(clients=4, payload="Gaussian")])
def test_sent_symbols_have_the_energy_of_the_bars(setting):
    """In units of the allowed rms: the mean over a block is the mean load."""
    view = look_at(setting, seed=3)
    power = np.square(np.abs(view.sent)).mean(axis=1)
    np.testing.assert_allclose(power, view.load.mean(axis=1), rtol=1e-4)
    assert view.load.max() == pytest.approx(1.0, abs=1e-5)
    assert view.load.shape == (4, SYMBOLS)


def test_perfect_clients_arrive_where_they_should():
    view = look_at(PLAIN)
    np.testing.assert_allclose(np.abs(view.arrived.real), 1, atol=1e-5)
    np.testing.assert_allclose(np.abs(view.arrived.imag), 1, atol=1e-5)


def test_silent_carriers_are_those_below_the_threshold():
    setting = Setting(clients=4, truncation=0.5)
    view = look_at(setting)
    assert view.active == pytest.approx((view.strength > 0.5).mean(), abs=1e-6)
    # the same share of the elements, but that each carrier holds one in every symbol
    assert (view.sent == 0).mean() == pytest.approx(1 - view.active, abs=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        Setting(truncation=0.3),
        Setting(fading="Rayleigh, flat", truncation=0.3, csi_error=0.1),
        Setting(fading="none", truncation=0.0),
        Setting(fading="Rician, K = 4", payload="Gaussian"),
    ],
)
def test_the_curve_is_that_of_theory(setting, rng, monkeypatch):
    monkeypatch.setattr(linkview, "DRAWS", 150)
    view = look_at(setting, int(rng.integers(2**32)))
    curve = view.curve
    expected = np.interp(curve.entry_snr_db, curve.expected_snr_db, curve.expected)
    assert (np.abs(curve.mean - expected) <= 5 * curve.error).all()
    assert view.expected_nmse == pytest.approx(expected[curve.entry_snr_db == 20.0][0])
    assert not curve.why_not


def test_the_bars_are_standard_errors_of_the_mean(monkeypatch):
    """On a wire a round's NMSE is that of 4800 noises: its deviation is sqrt(2 / 4800) of it."""
    monkeypatch.setattr(linkview, "DRAWS", 150)
    curve = look_at(Setting(fading="none", truncation=0.0)).curve
    expected = curve.mean * np.sqrt(2 / LENGTH) / np.sqrt(150)
    np.testing.assert_allclose(curve.error, expected, rtol=0.35)


@pytest.mark.parametrize("fading", FADINGS)
@pytest.mark.parametrize("clients", [1, 20])
def test_every_corner_can_be_shown(fading, clients):
    for setting in (
        Setting(clients=clients, fading=fading, truncation=1.0, csi_error=0.5, entry_snr_db=-40),
        Setting(clients=clients, fading=fading, truncation=0.0, carrier_offset=0.05, backoff_db=-6),
    ):
        view = look_at(setting)
        assert np.isfinite(view.nmse)
        assert words.story(setting, view)


def test_true_channels_and_estimates_are_told_apart():
    known, noisy = (look_at(Setting(clients=4, csi_error=error), seed=5) for error in (0.0, 0.5))
    np.testing.assert_array_equal(noisy.strength, known.strength)
    np.testing.assert_array_equal(known.estimate, known.strength)
    # E |h + e|^2 = |h|^2 + v, on 1600 carriers
    assert (noisy.estimate - noisy.strength).mean() == pytest.approx(0.5, abs=0.15)
    assert noisy.active == pytest.approx((noisy.estimate > 0.1).mean(), abs=1e-6)


def test_numbers_of_a_round():
    setting = Setting(clients=1, fading="Rayleigh, flat", truncation=0.0)
    view = look_at(setting, seed=5)
    assert view.gain_db == pytest.approx(10 * np.log10(view.strength[0, 0]), abs=1e-4)
    assert view.airtime == pytest.approx(SYMBOLS * GRID.symbol_duration)
    clean, faulty = (look_at(each, seed=5) for each in (Setting(), Setting(carrier_offset=0.05)))
    assert faulty.curve.mean[-1] > 2 * clean.curve.mean[-1]
    # the channel of samples differs by some per cent, and so does the gain
    np.testing.assert_allclose(faulty.curve.expected, clean.curve.expected, rtol=0.1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "setting",
    [
        Setting(fading="none", truncation=1.0),
        Setting(clients=1, fading="Rayleigh, flat", truncation=0.5),
        Setting(clients=1, fading="Rayleigh, flat", truncation=0.9, backoff_db=6.0),
    ],
)
def test_nobody_need_send(setting, seed):
    view = look_at(setting, seed)
    assert np.isfinite(view.nmse)
    assert ("Nobody sends" in words.story(setting, view)) == (view.active == 0)
    assert words.numbers(view)
    if view.active == 0:
        assert view.nmse == pytest.approx(1 + view.noise_part, rel=0.2)


def test_with_faults_every_draw_keeps_its_budgets():
    """Else amplifiers would get what no client may send."""
    setting = Setting(fading="Rayleigh, flat", truncation=0.0, backoff_db=6.0, entry_snr_db=40.0)
    curve = look_at(setting, seed=0).curve
    assert curve.mean[-1] < 0.02
