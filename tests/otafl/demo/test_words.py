"""What the page says about a round."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from otafl.demo import words
from otafl.demo.scenario import ROUNDS
from otafl.demo.setting import Setting
from otafl.demo.snapshot import snapshot

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


def shown(setting=Setting(clients=6), **values):  # noqa: B008
    """A snapshot with some of its numbers given."""
    found = {
        "nmse": 0.01,
        "expected_nmse": 0.02,
        "noise_part": 0.004,
        "active": 0.25,
        "gain_db": -3.0,
        "airtime": 0.002,
        "clip_rate": 0.125,
        "curve": SimpleNamespace(why_not=""),
        **values,
    }
    return SimpleNamespace(setting=setting, **found)


def test_noise_is_told_from_the_rest():
    """On a wire there is nothing else: gain 1, and N0 over what is sent."""
    view = snapshot(Setting(fading="none", truncation=0.0, entry_snr_db=0.0))
    assert view.gain_db == pytest.approx(0.0, abs=1e-4)
    assert view.nmse == pytest.approx(view.noise_part, rel=0.1)
    assert "Noise causes all of the error" in words.story(view)


def test_what_limits_a_link_is_said():
    story = words.story(snapshot(FAULTY))
    for cause in ("stay silent", "channel estimates", "oscillators", "amplifiers"):
        assert cause in story
    assert "for ideal hardware" in story


def test_no_closed_form_is_said_so():
    view = snapshot(Setting(fading="Rician, K = 4", csi_error=0.1))
    assert np.isnan(view.expected_nmse)
    assert "line of sight" in words.story(view)
    assert "none known" in words.numbers(view)


def test_numbers_are_written_where_they_belong():
    text = words.numbers(shown()).replace("&minus;", "-").replace("&nbsp;", " ")
    cards = re.findall(r'"value">(.*?)</div><div class="name">(.*?)<', text)
    assert cards == [
        ("-20.0 dB", "NMSE of this round"),
        ("-17.0 dB", "mean NMSE in theory"),
        ("-24.0 dB", "NMSE from noise alone"),
        ("20 | 56.8", "SNR [dB] per entry | block, d = 4800"),  # 10 log10 4800 = 36.8
        ("25%", "carriers in use"),
        ("-3.0 dB", "gain vs. |h| = 1"),
        ("12.5%", "samples clipped, worst client"),
        ("2.00 ms", "time on the air"),
    ]


def test_shares_are_told_as_they_are():
    story = words.story(shown())
    assert "Noise causes 40% of the error" in story
    assert "the 75% of carriers on which clients stay silent" in story
    assert not any(cause in story for cause in ("estimates", "oscillators"))
    nearly = words.story(shown(active=0.998))
    assert "the 0.2% of carriers" in nearly
    little = words.story(shown(noise_part=1e-6))
    assert "Noise causes less than 0.1% of the error" in little
    assert "only" not in little.partition("sum.")[2]
    assert "nearly all" in words.story(shown(noise_part=0.0099))


def test_no_number_is_minus_zero():
    assert words.decibels(0.999) == words.level(-0.04) == "0.0 dB"
    assert "&minus;0.0" not in words.numbers(shown(nmse=0.9999, gain_db=-1e-7))


def test_a_single_client_is_one():
    setting = Setting(clients=1, csi_error=0.1, carrier_offset=0.01, backoff_db=3.0)
    story = words.story(shown(setting))
    assert "A single client sends votes" in story
    assert not re.search(r"clients|their|estimates|oscillators|amplifiers", story)
    silent = words.story(shown(setting, active=0.0))
    assert "the client estimates its channel to be too weak" in silent
    assert "Two clients send Gaussian values" in words.story(
        shown(Setting(clients=2, payload="Gaussian"))
    )
    assert "20 clients send" in words.story(shown(Setting(clients=20)))


def test_a_preset_is_introduced_by_its_sentence():
    story = words.story(snapshot(Setting()))
    assert story.startswith("<p><b>Counting votes.</b> Five clients vote")


def test_bad_addresses_are_told_as_text():
    assert words.notice([]) == ""
    assert "x &lt;b&gt;" in words.notice(["x <b>"])


def test_places_in_the_queue():
    assert "Starting" in words.waiting(0)
    assert "1 training ahead of yours" in words.waiting(1)
    assert "2 trainings ahead of yours" in words.waiting(2)
    assert "12 trainings are waiting already" in words.refused(12)


def test_the_end_of_a_training_is_told():
    found = {"ACPC-OTA-FL": 81.25, "COTAF": float("nan")}
    told = words.trained(Setting(entry_snr_db=-29), ROUNDS, found, None)
    assert "ACPC-OTA-FL 81.2%, COTAF diverged" in told
    # 10 log10 7850 = 38.9
    assert "5 clients, SNR &minus;29 dB per entry, 9.9 dB per block of d = 7850" in told
    assert "Stopped" not in told
    stopped = words.trained(Setting(clients=1), 7, found, None)
    assert "Stopped after round 7" in stopped
    assert "1 client," in stopped
    assert "it broke &lt;" in words.trained(Setting(), 1, found, "it broke <")
    assert words.trained(Setting(), 0, {}, None) == words.invitation()


def test_an_infinite_mean_is_said_so():
    view = snapshot(Setting(fading="Rayleigh, flat", csi_error=0.1, truncation=0.0))
    assert "infinite" in words.numbers(view)
    assert "the mean error is infinite" in words.story(view)


def test_an_amplifier_that_distorts_is_named():
    setting = Setting(fading="none", truncation=0.0, entry_snr_db=40.0, backoff_db=12.0)
    assert "saturating amplifiers" in words.story(snapshot(setting))
