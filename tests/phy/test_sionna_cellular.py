"""Sionna's cells: clients stay where they are, and rays are new in every round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import f_oneway

from links import OfdmLink, WaveformLink
from phy import OfdmGrid, SionnaRma, SionnaUma, SionnaUmi
from phy.sionna_cellular import GROUP, _dropped
from tests.tolerance import check_mean, check_proportion

NOW = np.zeros(1)
KINDS = [SionnaUmi, SionnaUma, SionnaRma]
kinds = pytest.mark.parametrize("kind", KINDS)
# a prefix of 0.8 ms: the delay spread of a cell is lognormal, and its tail is long
GRID = OfdmGrid(fft_size=128, cp_length=128, guards=(10, 10), subcarrier_spacing=1.25e3)


def draw(fading, clients, seed, device_seed=3, times=NOW):
    devices = np.random.default_rng(device_seed)
    return fading.draw(np.array(clients), times, np.random.default_rng(seed), devices)


def scenarios(fading, population, groups):
    """What Sionna knows of the clients."""
    return [_dropped(fading, population, group, lossy=False)._scenario for group in range(groups)]


@kinds
@pytest.mark.parametrize("state", [{"los": True}, {"los": False}, {"indoor_probability": 1.0}])
def test_mean_power_is_one(kind, state, rng):
    """Of new clients in each draw."""
    fading = kind(**{"indoor_probability": 0.0, **state})
    draws = [fading.draw(np.arange(GROUP), NOW, rng, None).gains for _ in range(8)]
    check_mean(np.square(np.abs(draws)).sum(axis=-1), 1.0)


@kinds
def test_clients_keep_their_places_and_get_new_rays(kind):
    fading = kind()
    first, again = draw(fading, [0, 5, 20], 1), draw(fading, [0, 5, 20], 1)
    np.testing.assert_array_equal(first.gains, again.gains)
    later = draw(fading, [20, 5], 2)
    assert np.abs(later.gains - first.gains[[2, 1]]).max() > 1e-3
    here, same, elsewhere = (
        np.concatenate([each.ut_loc.numpy()[:, 0] for each in scenarios(cell, key, 2)])
        for cell, key in ((fading, 7), (replace(fading, los=True), 7), (fading, 8))
    )
    np.testing.assert_array_equal(here, same)
    assert np.abs(here - elsewhere).max(axis=1).min() > 0
    _dropped.cache_clear()  # and nothing hangs on what was drawn before
    np.testing.assert_array_equal(draw(fading, [0, 5, 20], 1).gains, first.gains)


def test_delay_spreads_belong_to_a_client(rng):
    """Over rounds a client's stays, and differs from another's."""
    fading = SionnaUmi(los=False, indoor_probability=0.0)

    def spreads(seed):
        taps = draw(fading, np.arange(GROUP), seed)
        power = np.square(np.abs(taps.gains[:, 0]))
        power /= power.sum(axis=1, keepdims=True)
        mean = (power * taps.delays).sum(axis=1, keepdims=True)
        return np.log10(np.sqrt((power * np.square(taps.delays - mean)).sum(axis=1)))

    rounds = [spreads(seed) for seed in rng.integers(2**32, size=12)]
    assert f_oneway(*np.transpose(rounds)).pvalue < 1e-4


@kinds
def test_places_speeds_and_states_are_as_asked(kind, rng):
    fading = kind(min_speed=2.0, max_speed=6.0, min_distance=50.0, max_distance=90.0)
    cells = scenarios(fading, int(rng.integers(2**63)), 16)
    places = np.concatenate([cell.ut_loc.numpy()[:, 0] for cell in cells]).astype(np.float64)
    distance = np.hypot(places[:, 0], places[:, 1])
    assert distance.min() >= 50 - 1e-3
    assert distance.max() <= 90 + 1e-3
    check_mean(distance**2, (50**2 + 90**2) / 2)  # uniform over the area
    check_mean(places[:, 0], 0.0)
    assert set(places[:, 2]) == {1.5}
    speed = np.linalg.norm([cell.ut_velocities.numpy()[:, 0] for cell in cells], axis=-1).ravel()
    assert speed.min() >= 2 - 1e-5
    assert speed.max() <= 6 + 1e-5
    check_mean(speed, 4.0)
    indoor = np.concatenate([cell.indoor.numpy()[:, 0] for cell in cells])
    check_proportion(indoor, fading.indoor_probability)
    los = np.concatenate([cell.los.numpy()[:, 0, 0] for cell in cells])
    assert not los[indoor].any()
    assert 0 < los.sum() < len(los)
    heights = {float(height) for cell in cells for height in cell.h_bs.numpy().ravel()}
    assert heights == {{SionnaUmi: 10.0, SionnaUma: 25.0, SionnaRma: 35.0}[kind]}


@pytest.mark.parametrize("los", [True, False])
def test_outdoors_the_line_of_sight_can_be_forced(los):
    cells = scenarios(SionnaUmi(los=los, indoor_probability=0.0), 1, 2)
    assert all((cell.los.numpy() == los).all() for cell in cells)


@kinds
@pytest.mark.parametrize("link", [OfdmLink, WaveformLink])
def test_without_noise_a_link_gives_the_ideal_sum(kind, link, rng):
    signals = rng.standard_normal((3, 800)).astype(np.float32)
    options = {"grid": GRID, "truncation": 0.0, "snr_db": np.inf}
    uplink = link(fading=kind(), **options).open(3, 800, rng, clients=[1, 40, 16])
    assert uplink.medium.channel.response.shape[1] == 1  # static, however many slots
    assert uplink.send(signals, uplink.max_gain(signals)).diagnostics["nmse"] < 1e-4


@kinds
def test_clients_move_within_a_round(kind, rng):
    length = 3 * 2 * GRID.num_carriers * GRID.symbols_per_slot
    channel = OfdmLink(grid=GRID, fading=kind(min_speed=1.0)).open(3, length, rng).medium.channel
    assert channel.response.shape[1] == 3
    assert np.abs(np.diff(channel.response, axis=1)).max(axis=(1, 2)).min() > 1e-3


@pytest.mark.parametrize(
    ("options", "loss", "shadowing"),
    [
        # PL = 32.4 + 21 lg d + 20 lg f, and 22.4 + 35.3 lg d + 21.3 lg f, at d = 100.36 m and
        # f = 3.5 (TR 38.901, table 7.4.1-1)
        ({"los": True, "indoor_probability": 0.0}, 85.31, 4.0),
        ({"los": False, "indoor_probability": 0.0}, 104.64, 7.82),
    ],
)
def test_path_gains_are_those_of_the_report(options, loss, shadowing, rng):
    fading = SionnaUmi(min_distance=100.0, max_distance=100.0, **options)
    gains = 10 * np.log10(fading.path_gains(64, rng))
    assert gains.mean() == pytest.approx(-loss, abs=5 * shadowing / np.sqrt(64))
    assert gains.std(ddof=1) == pytest.approx(shadowing, rel=5 / np.sqrt(2 * 64))


def test_path_gains_belong_to_a_client():
    fading, devices = SionnaUma(), np.random.default_rng(6)
    gains = fading.path_gains(20, devices)
    assert len(gains) == 20
    np.testing.assert_allclose(fading.path_gains(3, devices), gains[:3], rtol=1e-5)
    assert min(fading.path_gains(3, np.random.default_rng(7))) not in gains
    # walls of high loss take 14 dB more at 3.5 GHz, and add 2 dB to the standard deviation
    indoors = replace(fading, indoor_probability=1.0)
    low = np.array(indoors.path_gains(20, devices))
    high = np.array(replace(indoors, o2i_model="high").path_gains(20, devices))
    assert (high < low).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SionnaUmi(min_distance=0), "min_distance must be a finite number > 0, got 0"),
        (
            lambda: SionnaUma(max_distance=20.0),
            r"max_distance must be a finite number >= 35, got 20\.0",
        ),
        (
            lambda: SionnaRma(indoor_probability=1.5),
            r"indoor_probability must be a finite number >= 0 and <= 1, got 1\.5",
        ),
        (lambda: SionnaUmi(los=1), "los must be True or False, got 1"),
        (
            lambda: SionnaUmi(o2i_model="Low"),
            "o2i_model must be one of 'low', 'high', got 'Low'; d",
        ),
        (lambda: SionnaRma(min_speed=-1), "min_speed must be a finite number >= 0, got -1"),
        (
            lambda: SionnaRma().path_gains(0, np.random.default_rng()),
            "num_clients must be a whole number >= 1, got 0",
        ),
        (
            lambda: SionnaRma().path_gains(1, None),
            "device_rng must be a numpy.random.Generator, got None",
        ),
    ],
)
def test_impossible_options_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="SionnaRma has no option 'o2i_model'"):
        SionnaRma(o2i_model="low")
    with pytest.raises(TypeError, match="SionnaUmi has no option 'distance'; did you mean 'min_d"):
        SionnaUmi(distance=3.0)
