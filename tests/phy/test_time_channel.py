"""The channel in samples, against explicit sums and exact expectations of power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import i0

from phy import AgedCsi, OfdmGrid, PerfectCsi, PilotCsi, Tdl
from phy.time_channel import Lags, draw_time_channel, lags_of, refuse_too_fast
from tests.phy.given import TwoLooks, fixed, turning

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3)
SAMPLE = 1 / GRID.sampling_rate
GAINS = np.array([[0.7, 0.2 - 0.5j, 0.1j], [0.3j, -0.6, 0.4]])
DELAYS = np.array([0.0, 1.5, 7.25]) * SAMPLE


def pulse(t):
    """The documented kernel: a sinc in Kaiser's window of beta 4.3 that ends after 14 samples."""
    inside = np.abs(t) < 14
    window = i0(4.3 * np.sqrt(np.where(inside, 1 - (t / 14) ** 2, 0))) / i0(4.3)
    return np.where(inside, np.sinc(t) * window, 0)


def draw(fading, csi=None, num_symbols=7, time=0.0, grid=GRID, clients=2):
    return draw_time_channel(
        grid,
        fading,
        PerfectCsi() if csi is None else csi,
        clients=np.arange(clients),
        path_gain=np.ones(clients),
        num_symbols=num_symbols,
        time=time,
        rng=np.random.default_rng(0),
        device_rng=None,
    )


def taps_by_hand(gains, places, lags):
    """h[l] = sum_p a_p k(l - place_p), in float64: [clients, taps]"""
    offsets = np.arange(lags.first, lags.last + 1) - np.asarray(places)[..., None]
    return np.einsum(
        "ip,...pl->il" if np.ndim(places) == 1 else "ip,ipl->il", gains, pulse(offsets)
    )


def response_by_hand(taps, lags, grid=GRID):
    """H[k] = sum_l h[l] exp(-j 2 pi k l / N)"""
    turns = np.outer(np.arange(lags.first, lags.last + 1), grid.used_carriers) / grid.fft_size
    return taps @ np.exp(-2j * np.pi * turns)


@pytest.mark.parametrize("known", [True, False])
def test_a_static_channel_is_the_sum_of_its_pulses(known):
    channel, observed = draw(fixed(GAINS, DELAYS, known=known))
    assert channel.lags == Lags(-13, 8 + 13)
    taps = taps_by_hand(GAINS, DELAYS / SAMPLE, channel.lags)
    assert not channel.moving
    assert len(channel.gains) == 3
    for slot in range(3):
        np.testing.assert_allclose(channel.taps(slot, GRID)[:, 0], taps, atol=1e-6)
        spectrum = np.fft.fft(taps, 128)
        np.testing.assert_allclose(channel.spectra(slot, GRID, 128)[:, 0], spectrum, atol=2e-6)
    response = response_by_hand(taps, channel.lags)
    np.testing.assert_allclose(channel.response[:, 0], response, atol=2e-6)
    assert observed.response is channel.response
    assert observed.response_before(1.0) is channel.response
    np.testing.assert_array_equal(channel.of_slot(channel.response, 2), channel.response[:, 0])


def test_each_client_may_have_delays_of_its_own():
    places = np.array([[0.0, 1.5, 7.25], [3.0, 0.1, 9.9]])
    channel, _ = draw(fixed(GAINS, places * SAMPLE, known=False))
    assert channel.lags == Lags(-13, 10 + 13)
    taps = taps_by_hand(GAINS, places, channel.lags)
    np.testing.assert_allclose(channel.taps(0, GRID)[:, 0], taps, atol=1e-6)
    np.testing.assert_allclose(channel.spectra(0, GRID, 64)[:, 0], np.fft.fft(taps, 64), atol=2e-6)
    response = response_by_hand(taps, channel.lags)
    np.testing.assert_allclose(channel.response[:, 0], response, atol=2e-6)


def test_whole_samples_need_one_tap_each():
    channel, _ = draw(fixed(GAINS, np.array([0.0, 2.0, 5.0]) * SAMPLE))
    assert channel.lags == Lags(0, 5)
    expected = np.zeros((2, 6), complex)
    expected[:, [0, 2, 5]] = GAINS
    np.testing.assert_allclose(channel.taps(0, GRID)[:, 0], expected, atol=1e-6)


def test_lags_by_hand():
    assert lags_of(np.zeros(1), GRID) == Lags(0, 0)
    assert lags_of(np.array([0.0, 3.0]) * SAMPLE, GRID) == Lags(0, 3)
    assert lags_of(np.array([0.0, 2.1]) * SAMPLE, GRID) == Lags(-13, 16)
    assert lags_of(np.array([0.5, 3.0]) * SAMPLE, GRID).num_taps == 13 + 3 + 13 + 1
    with pytest.raises(
        ValueError, match="fading must be shorter than an OFDM symbol of 3.33e-05 s"
    ):
        lags_of(np.array([65.0]) * SAMPLE, GRID)
    assert lags_of(np.array([64.0]) * SAMPLE, GRID).last == 64


DOPPLERS = np.array([[100.0, -300.0, 50.0], [200.0, 0.0, -40.0]])


@pytest.mark.parametrize("known", [True, False])
def test_a_moving_channel_is_known_at_its_knots_and_observed_mid_slot(known):
    """Slots of three symbols of 80 samples; the last of seven symbols is alone in its slot."""
    fading = turning(GAINS, DOPPLERS, DELAYS, known=known)
    channel, observed = draw(fading, csi=AgedCsi(1e-3), time=0.125)
    assert channel.moving
    assert channel.response.shape == (2, 3, GRID.num_carriers)
    starts, middles = np.array([0.0, 240.0, 480.0]), np.array([120.0, 360.0, 520.0])
    for slot in range(3):
        # knots every 40 samples, from the first lag on
        knots = starts[slot] - 13 + 40 * np.arange(channel.gains[slot].shape[1])
        gains = fading.gains(0.125 + knots * SAMPLE)
        np.testing.assert_allclose(channel.gains[slot], gains, atol=1e-6)
        # the knots reach beyond the last output
        assert knots[-1] >= starts[slot] + 80 * (3 if slot < 2 else 1) + channel.lags.last - 1
        for delay in (0.0, 1e-3):
            turned = fading.gains(np.array([0.125 + middles[slot] * SAMPLE - delay]))[:, 0]
            taps = taps_by_hand(turned, DELAYS / SAMPLE, channel.lags)
            expected = response_by_hand(taps, channel.lags)
            seen = channel.of_slot(observed.response_before(delay), slot)
            np.testing.assert_allclose(seen, expected, atol=1e-5)
    np.testing.assert_array_equal(channel.response, observed.response)
    with pytest.raises(ValueError, match="observes the channel 0.002 s before"):
        observed.response_before(2e-3)


def test_csi_may_look_at_several_earlier_instants():
    channel, observed = draw(turning(GAINS, np.full((2, 3), 25.0), DELAYS), csi=TwoLooks())
    looks = [np.exp(-2j * np.pi * 25.0 * delay) for delay in (1e-3, 2e-3)]
    estimate = TwoLooks().estimate(observed, np.random.default_rng(0))
    np.testing.assert_allclose(estimate, channel.response * (2 * looks[0] - looks[1]), atol=2e-5)


def test_pilots_delay_the_data_of_every_slot():
    fading = turning(GAINS, DOPPLERS, DELAYS)
    channel, _ = draw(fading, csi=PilotCsi(num_pilots=2))
    for slot, middle in enumerate([280.0, 680.0, 1000.0]):
        turned = fading.gains(np.array([middle * SAMPLE]))[:, 0]
        taps = taps_by_hand(turned, DELAYS / SAMPLE, channel.lags)
        expected = response_by_hand(taps, channel.lags)
        np.testing.assert_allclose(channel.response[:, slot], expected, atol=1e-5)


def test_pilots_in_the_grid_are_observed_as_well():
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), pilots=4)
    channel, observed = draw(fixed(GAINS, DELAYS), grid=grid)
    assert channel.response.shape[2] == 52
    assert observed.grid == OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))


def path_power(grid, places):
    """|H(f)|^2 of unit paths at ``places`` [samples], on the used carriers: [paths, carriers]"""
    delays = np.asarray(places) / grid.sampling_rate
    channel, _ = draw(
        fixed(np.ones((len(delays), 1)), delays[:, None], known=False),
        grid=grid,
        clients=len(delays),
    )
    return np.square(np.abs(channel.response[:, 0]), dtype=np.float64)


def test_on_the_default_grid_a_path_keeps_its_power_to_one_percent():
    """Used carriers reach 200/512 of the sampling rate; 40 fractions of a sample."""
    power = path_power(OfdmGrid(), 3 + np.arange(40) / 40)
    assert power.shape == (40, 400)
    assert np.abs(power - 1).max() < 0.01


@pytest.mark.parametrize("fft_size", [64, 128, 512])
def test_below_045_of_the_sampling_rate_a_path_keeps_its_power_to_three_percent(fft_size):
    grid = OfdmGrid(fft_size=fft_size, cp_length=fft_size // 4, guards=(0, 0), dc_null=False)
    power = path_power(grid, np.arange(40) / 40)
    within = np.abs(grid.used_carriers) < 0.45 * fft_size
    assert within.sum() > 0.88 * fft_size
    assert np.abs(power[:, within] - 1).max() < 0.03


def test_near_the_nyquist_frequency_half_a_sample_costs_power():
    """Documented: a pulse of finite length cannot pass these carriers and stop their aliases."""
    grid = OfdmGrid(guards=(0, 0), dc_null=False)
    power = path_power(grid, [4.0, 4.5])
    at_049 = np.flatnonzero(grid.used_carriers == 251)[0]
    assert power[0, at_049] == pytest.approx(1, abs=1e-4)  # a whole number of samples
    assert power[1, at_049] == pytest.approx(0.098, abs=0.003)
    assert power[1, 0] < 1e-6  # the Nyquist frequency itself


@pytest.mark.parametrize("model", list("ABCDE"))
def test_tdl_channels_have_unit_mean_power_on_every_used_carrier(model):
    """E |H(f)|^2 = sum_p P_p |K_p(f)|^2 + the line of sight on path 0, exactly."""
    grid, fading = OfdmGrid(), Tdl(model=model, delay_spread=100e-9)
    profile = fading.profile
    powers = profile.diffuse.copy()
    powers[0] += profile.specular
    assert powers.sum() == pytest.approx(1)
    each = path_power(grid, profile.delays * 15.36e6)
    assert np.abs(powers @ each - 1).max() < 0.01


def test_movement_too_fast_for_the_knots_is_refused():
    """0.5 rad between knots half a symbol apart: 4244 Hz at 18.75 us."""
    refuse_too_fast(4244.0, OfdmGrid())
    refuse_too_fast(0.0, OfdmGrid())
    with pytest.raises(ValueError, match="at most 4244 Hz for symbols of 3.75e-05 s, got 4245 Hz"):
        refuse_too_fast(4245.0, OfdmGrid())
