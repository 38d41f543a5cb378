"""What the page says about a round."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from otafl.demo import words
from otafl.demo.linkview import look_at
from otafl.demo.setting import Setting

PLAIN = Setting(clients=4, fading="Rayleigh, flat", truncation=0.0)

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


def test_noise_is_told_from_the_rest():
    """On a wire there is nothing else: gain 1, and N0 over what is sent."""
    view = look_at(Setting(fading="none", truncation=0.0, entry_snr_db=0.0))
    assert view.gain_db == pytest.approx(0.0, abs=1e-4)
    assert view.nmse == pytest.approx(view.noise_part, rel=0.1)
    assert "Noise causes nearly all" in words.story(Setting(), view)


def test_what_limits_a_link_is_said():
    story = words.story(FAULTY, look_at(FAULTY))
    for cause in ("stay silent", "channel estimates", "oscillators", "amplifiers"):
        assert cause in story
    assert "no hardware faults" in story


def test_no_closed_form_is_said_so():
    setting = Setting(fading="Rician, K = 4", csi_error=0.1)
    view = look_at(setting)
    assert np.isnan(view.expected_nmse)
    assert "line of sight" in words.story(setting, view)
    assert "none known" in words.numbers(view)


def test_numbers_are_written_where_they_belong():
    view = replace(
        look_at(PLAIN),
        nmse=0.01,
        expected_nmse=0.02,
        noise_part=0.004,
        active=0.25,
        gain_db=-3.0,
        airtime=0.002,
        clip_rate=0.125,
    )
    cards = re.findall(r'"value">(.*?)</div><div class="name">(.*?)<', words.numbers(view))
    assert [value.replace("&minus;", "-") for value, _ in cards] == [
        "-20.0 dB",
        "-17.0 dB",
        "-24.0 dB",
        "25%",
        "-3.0 dB",
        "12.5%",
        "2.00 ms",
    ]
    story = words.story(Setting(), view)
    assert "only 40% of the error" in story
    assert "the 75% of carriers" in story
    assert not any(cause in story for cause in ("estimates", "oscillators"))
    assert "less than 1 %" in words.story(Setting(), replace(view, noise_part=1e-5))


def test_the_end_of_a_training_is_told():
    found = {"ACPC-OTA-FL": 81.25, "COTAF": float("nan")}
    told = words.trained(Setting(entry_snr_db=-29), found, None)
    assert "ACPC-OTA-FL 81.2 %, COTAF diverged" in told
    assert "5 clients at &minus;29 dB" in told
    assert "it broke &lt;" in words.trained(Setting(), found, "it broke <")
    assert words.trained(Setting(), {}, None) == words.invitation()


def test_an_infinite_mean_is_said_so():
    setting = Setting(fading="Rayleigh, flat", csi_error=0.1, truncation=0.0)
    view = look_at(setting)
    assert "infinite" in words.numbers(view)
    assert "the mean error is infinite" in words.story(setting, view)


def test_an_amplifier_that_distorts_is_named():
    setting = Setting(fading="none", truncation=0.0, entry_snr_db=40.0, backoff_db=12.0)
    assert "saturating amplifiers" in words.story(setting, look_at(setting))
