"""What the page shows of a round is what the link did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from figures.link_view import LENGTH
from otafl.demo import words
from otafl.demo.setting import FADINGS, Setting
from otafl.demo.snapshot import payload, snapshot
from phy import OfdmGrid

PLAIN = Setting(clients=4, fading="Rayleigh, flat", truncation=0.0)
FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)
SYMBOLS = 6


@pytest.mark.parametrize("setting", [PLAIN, FAULTY, Setting(clients=4)])
def test_what_arrives_of_each_adds_up_to_the_sum(setting):
    """All four clients are shown, and at this SNR there is next to no noise."""
    radio = snapshot(replace(setting, entry_snr_db=150.0, seed=3)).radio
    np.testing.assert_allclose(radio.arrived.sum(axis=0), radio.received_sum, atol=2e-4)


@pytest.mark.parametrize("setting", [PLAIN, FAULTY, Setting(clients=4, payload="Gaussian")])
def test_sent_symbols_have_the_energy_of_the_bars(setting):
    """In units of the allowed rms: the mean over an OFDM symbol is its load."""
    shown = snapshot(replace(setting, seed=3))
    power = np.square(np.abs(shown.radio.sent)).mean(axis=2)
    np.testing.assert_allclose(power, shown.view.load, rtol=1e-4)
    assert shown.view.load.max() == pytest.approx(1.0, abs=1e-5)
    assert shown.view.load.shape == (4, SYMBOLS)


def test_perfect_clients_arrive_where_they_should():
    radio = snapshot(PLAIN).radio
    np.testing.assert_allclose(np.abs(radio.arrived.real), 1, atol=1e-5)
    np.testing.assert_allclose(np.abs(radio.arrived.imag), 1, atol=1e-5)


def test_silent_carriers_are_those_below_the_threshold():
    shown = snapshot(Setting(clients=4, truncation=0.5))
    assert shown.active == pytest.approx((shown.radio.strength > 0.5).mean(), abs=1e-6)
    # the same share of the elements, but that each carrier holds one in every symbol
    assert (shown.radio.sent == 0).mean() == pytest.approx(1 - shown.active, abs=1e-6)


def test_true_channels_and_estimates_are_told_apart():
    known, noisy = (snapshot(Setting(clients=4, csi_error=error, seed=5)) for error in (0.0, 0.5))
    np.testing.assert_array_equal(noisy.radio.strength, known.radio.strength)
    np.testing.assert_array_equal(known.radio.estimate, known.radio.strength)
    # E |h + e|^2 = |h|^2 + v, on 1600 carriers
    extra = (noisy.radio.estimate - noisy.radio.strength).mean()
    assert extra == pytest.approx(0.5, abs=0.15)
    assert noisy.active == pytest.approx((noisy.radio.estimate > 0.1).mean(), abs=1e-6)


def test_numbers_of_a_round():
    shown = snapshot(Setting(clients=1, fading="Rayleigh, flat", truncation=0.0, seed=5))
    strength = shown.radio.strength[0, 0]
    assert shown.gain_db == pytest.approx(10 * np.log10(strength), abs=1e-4)
    assert shown.airtime == pytest.approx(SYMBOLS * OfdmGrid().symbol_duration)
    assert shown.clip_rate == 0
    assert snapshot(FAULTY).clip_rate > 0


def test_payloads_have_unit_variance():
    for name in ("votes", "Gaussian"):
        drawn = payload(Setting(payload=name, clients=20))
        # 96000 values, and E x^4 <= 3
        assert np.square(drawn).mean() == pytest.approx(1, abs=5 * np.sqrt(2 / drawn.size))
        assert drawn.shape == (20, LENGTH)


@pytest.mark.parametrize("fading", FADINGS)
@pytest.mark.parametrize("clients", [1, 20])
def test_every_corner_can_be_shown(fading, clients):
    for setting in (
        Setting(clients=clients, fading=fading, truncation=1.0, csi_error=0.5, entry_snr_db=-40),
        Setting(clients=clients, fading=fading, truncation=0.0, carrier_offset=0.05, backoff_db=-6),
    ):
        shown = snapshot(setting)
        assert np.isfinite(shown.nmse)
        assert words.story(shown)


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
    shown = snapshot(replace(setting, seed=seed))
    assert np.isfinite(shown.nmse)
    assert ("Nobody sends" in words.story(shown)) == (shown.active == 0)
    assert words.numbers(shown)
    if shown.active == 0:
        assert shown.nmse == pytest.approx(1 + shown.noise_part, rel=0.2)


def test_equal_settings_are_computed_once():
    assert snapshot(Setting(seed=77)) is snapshot(Setting(seed=77))
