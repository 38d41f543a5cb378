"""Laws of the fading, against closed forms and against Sionna's own models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import j0

from otafl._base import lazy
from phy import NoFading, OfdmGrid, Rayleigh, Rician, Tdl
from phy.channel import steering
from phy.fading import Fading, Law, Taps
from phy.power import active_probability
from tests.tolerance import check_mean, check_proportion

GRID = OfdmGrid()
NOW = np.zeros(1)
ALL_TDL = ["A", "B", "C", "D", "E"]


def responses(fading, count, rng, carriers=slice(None), times=NOW):
    """[count, times, carriers]"""
    taps = fading.draw(np.arange(count), times, rng, np.random.default_rng(rng.integers(2**32)))
    return taps.gains @ steering(taps.delays, GRID)[:, carriers]


EVERY = [
    NoFading(),
    Rayleigh(),
    Rayleigh(speed=30.0),
    Rician(k_factor=0.0),
    Rician(k_factor=5.0),
    Rician(k_factor=5.0, speed=3.0),
    *(Tdl(model, delay_spread=100e-9) for model in ALL_TDL),
    Tdl("A", delay_spread=0.0),
    Tdl("C", delay_spread=300e-9, speed=10.0),
    Tdl("E", delay_spread=30e-9, speed=10.0),
]


@pytest.mark.parametrize("fading", EVERY, ids=str)
def test_mean_power_is_one_and_the_law_of_a_response_is_the_stated_one(fading, rng):
    strength = np.square(np.abs(responses(fading, 4000, rng, carriers=[7])))[:, 0, 0]
    if isinstance(fading, NoFading):
        np.testing.assert_allclose(strength, 1, rtol=1e-6)
        return
    check_mean(strength, 1.0)
    for threshold in (0.05, 0.5, 1.5):
        check_proportion(strength > threshold, float(active_probability(threshold, fading.law)))


@pytest.mark.parametrize("fading", [Rayleigh(), Rayleigh(speed=20.0), Tdl("B")], ids=str)
def test_rayleigh_gains_are_circular_gaussian(fading, rng):
    h = responses(fading, 4000, rng, carriers=[3])[:, 0, 0]
    # Kolmogorov-Smirnov at a level that 1 run in 10^7 exceeds
    for part in (h.real, h.imag):
        assert stats.kstest(part * np.sqrt(2), "norm").pvalue > 1e-7
    check_mean(h.real * h.imag, 0.0)


def test_rayleigh_gains_have_the_law_of_sionnas(rng):
    lazy.sionna()
    from sionna.phy import config
    from sionna.phy.channel import RayleighBlockFading

    config.seed = int(rng.integers(2**31))
    theirs = RayleighBlockFading(1, 1, 1, 1)(4000, 1)[0].numpy().ravel()
    ours = responses(Rayleigh(), 4000, rng, carriers=[0]).ravel()
    for part in (np.real, np.imag, np.abs):
        assert stats.ks_2samp(part(ours), part(theirs)).pvalue > 1e-7


@pytest.mark.parametrize(
    "fading", [Tdl("A"), Rician(k_factor=50.0), Rician(k_factor=50.0, speed=3.0)], ids=str
)
def test_clients_are_independent(fading, rng):
    """The phase of their line of sight too."""
    h = np.array([responses(fading, 2, rng, carriers=[0])[:, 0, 0] for _ in range(2000)])
    check_mean((h[:, 0] * h[:, 1].conj()).real, 0.0)
    check_mean((h[:, 0] * h[:, 1].conj()).imag, 0.0)


@pytest.mark.parametrize("model", ALL_TDL)
def test_profiles_are_sionnas(model):
    lazy.sionna()
    from sionna.phy.channel.tr38901 import TDL

    ours, theirs = Tdl(model, delay_spread=250e-9).profile, TDL(model, 250e-9, 3.5e9)
    np.testing.assert_allclose(ours.delays, theirs.delays.numpy(), rtol=1e-5, atol=1e-15)
    total = ours.diffuse.copy()
    total[0] += ours.specular
    np.testing.assert_allclose(total, theirs.mean_powers.numpy(), rtol=1e-5)
    assert total.sum() == pytest.approx(1)
    if ours.specular:
        assert ours.specular == pytest.approx(float(theirs.mean_power_los), rel=1e-5)


@pytest.mark.parametrize("model", ALL_TDL)
def test_frequency_correlation_is_that_of_the_profile_and_of_sionna(model, rng):
    """E[h(f) h*(f + F)] = sum_p P_p exp(j 2 pi F tau_p)."""
    lazy.sionna()
    from sionna.phy import config
    from sionna.phy.channel import cir_to_ofdm_channel
    from sionna.phy.channel.tr38901 import TDL

    spread, apart = 200e-9, 40
    fading = Tdl(model, delay_spread=spread)
    powers = fading.profile.diffuse.copy()
    powers[0] += fading.profile.specular
    shift = (GRID.frequencies[apart] - GRID.frequencies[0]) * fading.delays
    expected = (powers * np.exp(2j * np.pi * shift)).sum()

    count = 6000
    ours = responses(fading, count, rng, carriers=[0, apart])[:, 0]
    config.seed = int(rng.integers(2**31))
    a, tau = TDL(model, spread, 3.5e9)(count, 1, 1.0)
    frequencies = GRID.frequencies[[0, apart]].astype(np.float32)
    theirs = cir_to_ofdm_channel(frequencies, a, tau).numpy().reshape(count, 2)
    for h in (ours, theirs):
        products = h[:, 0] * h[:, 1].conj()
        check_mean(products.real, expected.real)
        check_mean(products.imag, expected.imag)


@pytest.mark.parametrize("lag_in_wavelengths", [0.1, 0.38, 1.0, 30.0])
def test_moving_channels_follow_jakes(lag_in_wavelengths, rng):
    fading = Rayleigh(speed=10.0)
    lag = lag_in_wavelengths / fading.doppler
    h = responses(fading, 4000, rng, [0], times=np.array([5.0, 5.0 + lag]))[..., 0]
    products = h[:, 1] * h[:, 0].conj()
    check_mean(products.real, float(j0(2 * np.pi * lag_in_wavelengths)))
    check_mean(products.imag, 0.0)


def test_a_devices_own_power_over_a_long_run_spreads_as_that_of_128_sinusoids(rng):
    """Its mean over time is that of 128 exponential powers: a relative spread of 1 / sqrt(128).

    Given the sinusoids, |h|^2 at a random time has variance 1 - 1/128 on average, which the mean
    over n times divides by n.
    """
    devices, num_times = 2500, 400
    times = rng.uniform(0, 1e6, num_times)
    power = np.square(np.abs(responses(Rayleigh(speed=5.0), devices, rng, [0], times)))
    power = power[..., 0].mean(axis=1, dtype=np.float64)
    check_mean(power, 1.0)
    spread = np.sqrt(1 / 128 + (1 - 1 / 128) / num_times)
    # of a standard deviation from so many nearly normal values, whose excess kurtosis is below 0.1
    error = np.sqrt((2 + 0.1) / (4 * devices))
    assert power.std(ddof=1) == pytest.approx(spread, rel=5 * error)


def test_a_line_of_sight_turns_with_the_movement(rng):
    fading = Rician(k_factor=1e6, speed=10.0)
    lag = 0.3 / fading.doppler
    h = responses(fading, 10, rng, [0], times=np.array([0.0, lag]))[..., 0]
    turn = np.angle(h[:, 1] / h[:, 0])
    np.testing.assert_allclose(turn, 2 * np.pi * 0.3 * np.cos(np.pi / 4), atol=0.02)


def test_a_moving_channel_is_a_function_of_device_client_and_time():
    fading, device = Tdl("A", speed=5.0), np.random.default_rng(3)

    def gains(clients, times, device_rng, rng_seed=0):
        round_rng = np.random.default_rng(rng_seed)
        return fading.draw(np.array(clients), np.array(times), round_rng, device_rng).gains

    whole = gains([0, 1, 2], [0.0, 1.0, 2.0], device)
    np.testing.assert_array_equal(whole[[2], 1:2], gains([2], [1.0], device, rng_seed=9))
    other = gains([2], [1.0], np.random.default_rng(4))
    assert np.abs(other - whole[[2], 1:2]).max() > 1e-3


def test_without_devices_of_its_own_a_round_draws_new_ones(rng):
    fading = Rayleigh(speed=5.0)
    first, second = (fading.draw(np.arange(3), NOW, rng, None).gains for _ in range(2))
    assert np.abs(first - second).max() > 1e-3


def test_static_channels_are_static_within_a_round_and_new_in_the_next(rng):
    h = responses(Tdl("A"), 3, rng, times=np.array([0.0, 1.0]))
    np.testing.assert_array_equal(h[:, 0], h[:, 1])
    assert np.abs(responses(Tdl("A"), 3, rng) - h[:, :1]).max() > 1e-3


def test_doppler_in_literal_numbers():
    """f_D = v f_c / c: 30 m/s x 3.5 GHz / 299 792 458 m/s."""
    assert Rayleigh(speed=30.0).doppler == pytest.approx(350.2423, abs=1e-4)
    assert Tdl(speed=1.5, carrier_frequency=28e9).doppler == pytest.approx(140.0969, abs=1e-4)
    assert Rician(speed=0.0).doppler == 0


def test_a_line_of_sight_turns_by_the_doppler_in_literal_numbers(rng):
    """30 m/s at 3.5 GHz, 45 degrees from the movement: 350.2423 Hz x 0.70711 over 1 ms."""
    times = np.array([0.0, 1e-3])
    h = responses(Rician(k_factor=1e8, speed=30.0), 10, rng, [0], times)[..., 0]
    turns = np.angle(h[:, 1] / h[:, 0]) / (2 * np.pi)
    np.testing.assert_allclose(turns, 0.247659, atol=2e-3)


def test_a_moving_channel_decorrelates_in_literal_numbers(rng):
    """J0(2 pi 350.2423 Hz 1 ms) = J0(2.200637) = 0.11001; at 0.5 ms J0(1.100319) = 0.71947."""
    times = np.array([3.0, 3.0005, 3.001])
    h = responses(Rayleigh(speed=30.0), 8000, rng, [0], times)[..., 0]
    check_mean((h[:, 1] * h[:, 0].conj()).real, 0.71947)
    check_mean((h[:, 2] * h[:, 0].conj()).real, 0.11001)


@pytest.mark.parametrize("speed", [0.0, 10.0])
@pytest.mark.parametrize(("k_factor", "fourth"), [(0.0, 2.0), (1.0, 1.75), (3.0, 1.4375)])
def test_the_fourth_moment_of_a_rician_channel(k_factor, fourth, speed, rng):
    """E |h|^4 = 2 - (K / (1 + K))^2: 2 - 9/16 for K = 3."""
    count = 10_000 if speed else 40_000
    h = responses(Rician(k_factor=k_factor, speed=speed), count, rng, [0])[:, 0, 0]
    check_mean(np.square(np.abs(h)), 1.0)
    check_mean(np.abs(h).astype(np.float64) ** 4, fourth)


def test_the_line_of_sight_is_on_the_first_path_with_the_stated_power(rng):
    """TDL-D: 13.3 dB over the diffuse part of its first path (TR 38.901, table 7.7.2-4)."""
    profile = Tdl(model="D").profile
    assert 10 * np.log10(profile.specular / profile.diffuse[0]) == pytest.approx(13.3, abs=0.01)
    assert Tdl(model="E").law.specular == pytest.approx(Tdl(model="E").profile.specular)
    assert [Tdl(model=each).law.specular for each in "ABC"] == [0.0, 0.0, 0.0]
    gains = Tdl(model="D").draw(np.arange(4000), NOW, rng, None).gains[:, 0]
    strength = np.square(np.abs(gains), dtype=np.float64)
    check_mean(strength[:, 0], profile.specular + profile.diffuse[0])
    check_mean(strength[:, 1], profile.diffuse[1])


def test_a_users_fading_needs_one_method():
    class Doubled(Fading):
        def draw(self, clients, times, rng, device_rng):
            return Taps(np.full((len(clients), len(times), 1), 2, np.complex64), np.zeros(1))

    mine = Doubled()
    assert isinstance(mine, Fading)
    assert (mine.moving, mine.doppler, mine.law, mine.delays) == (False, 0.0, None, None)
    for ours in (NoFading(), Rayleigh(), Rician(), Tdl()):
        assert isinstance(ours, Fading)
    assert not isinstance("Rayleigh", Fading)
    assert (NoFading().moving, NoFading().doppler, NoFading().law) == (False, 0.0, Law(1.0))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Tdl("F"), "model must be one of 'A', 'B', 'C', 'D', 'E', got 'F'"),
        (lambda: Tdl("a"), "model must be one of .*got 'a'; did you mean 'A'"),
        (
            lambda: Tdl("A", delay_spread=-1e-9),
            "delay_spread must be a finite number >= 0, got -1e-09",
        ),
        (lambda: Tdl("A", delay_spread=np.inf), "delay_spread must be a finite .*got inf"),
        (lambda: Rayleigh(speed=-1.0), r"speed must be a finite number >= 0, got -1\.0"),
        (
            lambda: Rayleigh(carrier_frequency=0.0),
            r"carrier_frequency must be a finite number > 0, got 0\.0",
        ),
        (lambda: Rician(k_factor=np.nan), "k_factor must be a finite number >= 0, got nan"),
    ],
)
def test_impossible_channels_are_refused_by_name_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Tdl(Model="A"), "Tdl has no option 'Model'; did you mean 'model'"),
        (lambda: Rician(k_faktor=2.0), "Rician has no option 'k_faktor'; did you mean 'k_factor'"),
        (lambda: Rayleigh(Speed=2.0), "Rayleigh has no option 'Speed'; did you mean 'speed'"),
        (lambda: Rayleigh(colour="red"), "Rayleigh has no option 'colour'.*speed"),
    ],
)
def test_a_misspelt_option_is_refused_with_the_nearest_name(build, message):
    with pytest.raises(TypeError, match=message):
        build()


@pytest.mark.parametrize("spread", [100, 30.0])
def test_a_delay_spread_in_nanoseconds_is_refused(spread):
    message = f"must be in seconds, at most 0.01, got {spread}; did you mean {spread:g}e-9"
    with pytest.raises(ValueError, match=message):
        Tdl("A", delay_spread=spread)
