"""Sionna's delay lines, built from plain options."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from phy import AgedCsi, Fading, SionnaCdl, SionnaTdl, Tdl
from tests.tolerance import check_mean

TDL = ["A", "B", "C", "D", "E", "A30", "B100", "C300"]
CDL = ["A", "B", "C", "D", "E"]
EVERY = [*(SionnaTdl(model) for model in TDL), *(SionnaCdl(model, max_speed=9.0) for model in CDL)]
NOW = np.zeros(1)


def taps(fading, count, rng, times=NOW):
    return fading.draw(np.arange(count), times, rng, None)


@pytest.mark.parametrize("fading", EVERY, ids=str)
def test_mean_power_is_one(fading, rng):
    check_mean(np.square(np.abs(taps(fading, 1000, rng).gains)).sum(axis=-1), 1.0)


@pytest.mark.parametrize("model", CDL)
def test_clustered_delay_lines_have_sionnas_profiles(model, rng):
    fading = SionnaCdl(model, delay_spread=250e-9)
    found, theirs = taps(fading, 1000, rng), fading.build()
    order = np.argsort(theirs.delays)  # paths arrive in the order of their delays
    expected = np.tile(theirs.delays.numpy()[order], (1000, 1))
    np.testing.assert_allclose(found.delays, expected, rtol=1e-6)
    power = np.square(np.abs(found.gains[:, 0]), dtype=np.float64)
    for path, expected in enumerate(theirs.powers.numpy()[order]):
        check_mean(power[:, path], expected)


@pytest.mark.parametrize("model", ["A", "D"])
def test_tapped_delay_lines_are_ours(model, rng):
    profile = Tdl(model, delay_spread=80e-9).profile
    found = taps(SionnaTdl(model, delay_spread=80e-9), 3000, rng)
    delays = np.tile(profile.delays, (3000, 1))
    np.testing.assert_allclose(found.delays, delays, rtol=1e-5, atol=1e-15)
    check_mean(np.square(np.abs(found.gains[:, 0, 0])), profile.diffuse[0] + profile.specular)


@pytest.mark.parametrize(("model", "spread"), [("A30", 30e-9), ("B100", 100e-9), ("C300", 300e-9)])
def test_simplified_profiles_have_their_own_delay_spread(model, spread, rng, capfd):
    found = taps(SionnaTdl(model), 1, rng)
    assert "Warning" not in capfd.readouterr().out
    assert found.delays.max() == pytest.approx(
        SionnaTdl(model, delay_spread=spread).build().delays.numpy().max(), rel=1e-6
    )
    assert 1 < found.delays.max() / spread < 10


@pytest.mark.parametrize("kind", [SionnaTdl, SionnaCdl])
@pytest.mark.parametrize("link", [OfdmLink, WaveformLink])
def test_without_noise_a_link_gives_the_ideal_sum(kind, link, rng):
    signals = rng.standard_normal((3, 1001)).astype(np.float32)
    uplink = link(fading=kind("C"), truncation=0.0, snr_db=np.inf).open(3, 1001, rng)
    assert uplink.medium.channel.response.shape[1] == 1  # static, however many slots
    assert uplink.send(signals, uplink.max_gain(signals)).diagnostics["nmse"] < 1e-6


@pytest.mark.parametrize("kind", [SionnaTdl, SionnaCdl])
def test_clients_that_move_have_csi_that_ages(kind, rng):
    link = OfdmLink(fading=kind("A", min_speed=30.0), csi=AgedCsi(2e-4))
    channel = link.open(4, 40_000, rng).medium.channel
    assert channel.response.shape[1] == 4
    assert np.abs(np.diff(channel.response, axis=1)).max() > 1e-2
    assert np.abs(channel.estimate - channel.response).max() > 1e-3


def test_speeds(rng):
    """f_D = v f_c / c: 30 m/s x 3.5 GHz / 299 792 458 m/s."""
    assert SionnaTdl(min_speed=30.0).doppler == pytest.approx(350.2423, abs=1e-4)
    assert SionnaCdl(max_speed=30.0).doppler == pytest.approx(350.2423, abs=1e-4)
    still, moving = SionnaCdl(), SionnaCdl(min_speed=1.0, max_speed=2.0)
    assert (still.moving, still.continuous, still.doppler, still.law) == (False, False, 0.0, None)
    assert (moving.moving, moving.continuous) == (True, False)
    times = np.array([0.0, 1e-3])
    gains = taps(still, 4, rng, times).gains
    np.testing.assert_allclose(gains[:, 0], gains[:, 1], rtol=1e-6)
    with pytest.raises(ValueError, match="the Doppler shift must be at most"):
        WaveformLink(fading=SionnaTdl(max_speed=3000.0))


def test_the_rng_decides():
    first, again, other = (
        taps(SionnaCdl(), 3, np.random.default_rng(seed)).gains for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


def test_making_one_imports_no_tensorflow():
    code = (
        "import sys, otafl; f = otafl.SionnaTdl('B'), otafl.SionnaCdl(), otafl.SionnaUmi(); "
        "print(hash(f) == hash((otafl.SionnaTdl('B'), *f[1:])), 'tensorflow' in sys.modules)"
    )
    run = [sys.executable, "-c", code]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "True False\n"


def test_they_are_values():
    assert isinstance(SionnaTdl(), Fading)
    assert SionnaTdl("B") == SionnaTdl(model="B") != SionnaTdl("C")
    assert replace(SionnaTdl("B"), model="C300").delay_spread is None


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SionnaTdl("c"), "model must be one of 'A', .*'C300', got 'c'; did you mean 'C'"),
        (lambda: SionnaCdl("A30"), "model must be one of 'A', 'B', 'C', 'D', 'E', got 'A30'"),
        (
            lambda: SionnaTdl("A30", delay_spread=1e-7),
            "delay_spread must be None or 3e-08 for model 'A30', got 1e-07",
        ),
        (lambda: SionnaTdl(delay_spread=-1.0), "delay_spread must be a finite number >= 0, got -1"),
        (lambda: SionnaCdl(delay_spread=None), "delay_spread must be a finite number >= 0, got No"),
        (lambda: SionnaCdl(carrier_frequency=0), "carrier_frequency must be a finite number > 0"),
        (lambda: SionnaCdl(min_speed=-1), "min_speed must be a finite number >= 0, got -1"),
        (
            lambda: SionnaTdl(min_speed=2.0, max_speed=1.0),
            r"max_speed must be a finite number >= 2, got 1\.0",
        ),
        (
            lambda: OfdmLink(fading=SionnaTdl(), correction="expected"),
            "correction must be 'active' or 'none' with SionnaTdl, whose dist",
        ),
    ],
)
def test_impossible_options_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="SionnaCdl has no option 'speed'; did you mean 'min_spe"):
        SionnaCdl(speed=3.0)
