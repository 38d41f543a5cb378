"""The curve of the page: two sends per realisation give what sends at every SNR would."""

from __future__ import annotations

import numpy as np
import pytest

from figures.link_view import LENGTH
from otafl.demo import curve
from otafl.demo.curve import SNRS_DB, curve_of, measure, received
from otafl.demo.setting import Setting
from otafl.demo.snapshot import FULL_GAIN, payload, snapshot

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


@pytest.mark.parametrize("setting", [Setting(), FAULTY, Setting(backoff_db=0.0, truncation=0.0)])
def test_noise_scaled_from_one_snr_is_that_of_every_other(setting):
    signals, gain = payload(setting), 0.5 * FULL_GAIN
    truth = signals.sum(axis=0, dtype=float)
    directly = np.stack(
        [
            np.square(received(setting, signals, gain, snr_db, 3) - truth).sum(axis=1)
            for snr_db in SNRS_DB
        ],
        axis=1,
    )
    expected = directly / np.square(truth).sum()
    np.testing.assert_allclose(measure(setting, signals, gain, 3), expected, rtol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"truncation": 0.3},
        {"fading": "Rayleigh, flat", "truncation": 0.3, "csi_error": 0.1},
        {"fading": "none", "truncation": 0.0},
        {"fading": "Rician, K = 4", "payload": "Gaussian"},
    ],
)
def test_the_curve_is_that_of_theory(options, rng, monkeypatch):
    monkeypatch.setattr(curve, "REALISATIONS", 150)
    setting = Setting(**options, seed=int(rng.integers(2**32)))
    found = curve_of(setting, payload(setting), 0.5 * FULL_GAIN)
    expected = np.interp(found.entry_snr_db, found.expected_snr_db, found.expected)
    assert (np.abs(found.mean - expected) <= 5 * found.error).all()
    assert not found.why_not


def test_the_bars_are_standard_errors_of_the_mean(monkeypatch):
    """On a wire a round's NMSE is that of 4800 noises: its deviation is sqrt(2 / 4800) of it."""
    monkeypatch.setattr(curve, "REALISATIONS", 150)
    setting = Setting(fading="none", truncation=0.0)
    found = curve_of(setting, payload(setting), FULL_GAIN)
    expected = found.mean * np.sqrt(2 / LENGTH) / np.sqrt(150)
    np.testing.assert_allclose(found.error, expected, rtol=0.35)


def test_faults_raise_the_floor_and_leave_theory_as_it_is():
    clean, faulty = (
        snapshot(each).curve for each in (Setting(seed=5), Setting(carrier_offset=0.05, seed=5))
    )
    assert faulty.mean[-1] > 2 * clean.mean[-1]
    # the channel of samples differs by some per cent, and so does the gain
    np.testing.assert_allclose(faulty.expected, clean.expected, rtol=0.1)


def test_with_faults_every_realisation_keeps_its_budgets():
    """Else amplifiers would get what no client may send."""
    setting = Setting(fading="Rayleigh, flat", truncation=0.0, backoff_db=6.0, entry_snr_db=40.0)
    assert snapshot(setting).curve.mean[-1] < 0.02


def test_no_closed_form_has_a_reason():
    setting = Setting(fading="Rician, K = 4", csi_error=0.1)
    found = curve_of(setting, payload(setting), FULL_GAIN)
    assert np.isnan(found.expected).all()
    assert "line of sight" in found.why_not
