"""One round's channels: when they are looked at, and against explicit sums over paths."""

from __future__ import annotations

import numpy as np
import pytest

from phy import AgedCsi, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi
from phy.channel import (
    as_real,
    draw_channel,
    longest_delay,
    observed_at,
    refuse_longer_than_prefix,
    steering,
    times_real,
)
from phy.fading import Taps
from phy.randomness import complex_normal
from tests.phy.given import TwoLooks, fixed, turning

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3)
SAMPLE = 1 / GRID.sampling_rate
GAINS = np.array([[0.7, 0.2 - 0.5j, 0.1j], [0.3j, -0.6, 0.4]])
DELAYS = np.array([0.0, 1.5, 7.25]) * SAMPLE


def draw(fading, csi=None, num_symbols=7, time=0.0, clients=(0, 1), rng=None):
    return draw_channel(
        GRID,
        fading,
        PerfectCsi() if csi is None else csi,
        clients=np.array(clients),
        path_gain=np.ones(len(clients)),
        num_symbols=num_symbols,
        time=time,
        rng=np.random.default_rng(0) if rng is None else rng,
        device_rng=None,
    )


def summed(gains, delays):
    """sum_p a_p exp(-j 2 pi f tau_p), by loops in float64: [clients, carriers]"""
    rows = np.broadcast_to(delays, gains.shape)
    return np.array(
        [
            [
                sum(a * np.exp(-2j * np.pi * f * tau) for a, tau in zip(row, taus, strict=True))
                for f in GRID.carriers * 30e3
            ]
            for row, taus in zip(gains, rows, strict=True)
        ]
    )


@pytest.mark.parametrize("known", [True, False])
def test_a_static_channel_has_one_slot_and_is_the_sum_of_its_paths(known):
    channel = draw(fixed(GAINS, DELAYS, known=known))
    assert channel.response.shape == (2, 1, GRID.num_carriers)
    assert channel.response.dtype == np.complex64
    assert channel.estimate is channel.response
    np.testing.assert_allclose(channel.response[:, 0], summed(GAINS, DELAYS), atol=1e-6)


def test_each_client_may_have_delays_of_its_own():
    delays = np.stack([DELAYS, DELAYS[::-1] + SAMPLE])
    channel = draw(fixed(GAINS, delays, known=False))
    np.testing.assert_allclose(channel.response[:, 0], summed(GAINS, delays), atol=1e-6)


def test_clients_are_those_asked_for():
    channel = draw(fixed(GAINS, DELAYS), clients=(1,))
    np.testing.assert_allclose(channel.response[:, 0], summed(GAINS[1:], DELAYS), atol=1e-6)


def test_a_moving_channel_is_that_in_the_middle_of_each_slots_data():
    """Slots of three symbols of 80 samples; the last of seven symbols is alone in its slot."""
    dopplers = np.array([[100.0, -300.0, 50.0], [200.0, 0.0, -40.0]])
    fading = turning(GAINS, dopplers, DELAYS)
    time = 0.125
    channel = draw(fading, time=time)
    middles = time + np.array([120.0, 360.0, 520.0]) * SAMPLE
    np.testing.assert_allclose(fading.asked[0], middles, rtol=1e-15)
    for slot, middle in enumerate(middles):
        turned = GAINS * np.exp(2j * np.pi * dopplers * middle)
        np.testing.assert_allclose(channel.response[:, slot], summed(turned, DELAYS), atol=1e-6)
    np.testing.assert_allclose(channel.taps.gains, fading.gains(middles), atol=1e-6)


def test_pilots_delay_the_data_of_every_slot():
    fading = turning(GAINS, np.full((2, 3), 10.0), DELAYS)
    draw(fading, csi=PilotCsi(num_pilots=2))
    # two symbols of pilots ahead of each slot's three
    np.testing.assert_allclose(fading.asked[0], np.array([280, 680, 1000]) * SAMPLE, rtol=1e-12)


def test_ageing_looks_at_the_same_channel_earlier():
    fading = turning(GAINS, np.full((2, 3), 250.0), DELAYS)
    channel = draw(fading, csi=AgedCsi(2e-3, of=AgedCsi(1e-3)), time=1.0)
    turned = channel.response * np.exp(-2j * np.pi * 250.0 * 3e-3)
    np.testing.assert_allclose(channel.estimate, turned, atol=1e-5)
    assert channel.taps.gains.shape == (2, 3, 3)
    # one call for both, so that a model without memory gives one realisation
    assert len(fading.asked) == 1


def test_csi_may_look_at_several_earlier_instants():
    fading = turning(GAINS, np.full((2, 3), 25.0), DELAYS)
    for csi, age in ((TwoLooks(), 0.0), (AgedCsi(5e-4, of=TwoLooks()), 5e-4)):
        channel = draw(fading, csi=csi)
        looks = [np.exp(-2j * np.pi * 25.0 * (age + delay)) for delay in (1e-3, 2e-3)]
        expected = channel.response * (2 * looks[0] - looks[1])
        np.testing.assert_allclose(channel.estimate, expected, atol=1e-5)


def test_a_static_channel_is_asked_for_once_whatever_the_age_of_its_csi():
    fading = fixed(GAINS, DELAYS)
    channel = draw(fading, csi=AgedCsi(1.0))
    assert [len(times) for times in fading.asked] == [1]
    assert channel.estimate is channel.response


def test_an_estimate_has_its_own_errors():
    channel = draw(fixed(GAINS, DELAYS), csi=NoisyCsi(0.3), rng=np.random.default_rng(5))
    error = complex_normal(np.random.default_rng(5), channel.response.shape, np.sqrt(0.3))
    np.testing.assert_allclose(channel.estimate - channel.response, error, atol=1e-6)


def test_a_csi_that_looks_where_it_did_not_say_is_refused():
    now, before = np.zeros((1, 1, 4)), np.ones((1, 1, 4))
    observed = observed_at(GRID, np.ones(1), now, {0.5: before})
    assert observed.response is now
    assert observed.earlier(0.25).earlier(0.25).response is before
    with pytest.raises(ValueError, match="observes the channel 0.25 s before.*name only 0, 0.5"):
        observed.response_before(0.25)


def test_a_path_that_ends_with_the_prefix_passes_and_the_next_sample_does_not():
    """16 samples of prefix admit delays of 0 to 16 samples: 17 taps, prefix + 1."""
    refuse_longer_than_prefix(16 * SAMPLE, GRID)
    with pytest.raises(ValueError, match=r"cyclic prefix.*cp_length = 16.*cp_length=17\).*Wavefo"):
        refuse_longer_than_prefix(16.01 * SAMPLE, GRID)
    with pytest.raises(ValueError, match=r"give OfdmGrid\(cp_length=20\)"):
        refuse_longer_than_prefix(20 * SAMPLE, GRID)


def test_delays_known_only_when_drawn_are_checked_then():
    draw(fixed(GAINS, [0.0, SAMPLE, 16 * SAMPLE], known=False))
    with pytest.raises(ValueError, match="fading must fit the cyclic prefix"):
        draw(fixed(GAINS, [0.0, SAMPLE, 17 * SAMPLE], known=False))


def test_a_negligible_path_does_not_count_as_long():
    gains = np.array([[[1.0, 1e-4, 0.0]]], np.complex64)
    assert longest_delay(Taps(gains, np.array([1e-7, 1e-5, 3.0]))) == 1e-7
    assert longest_delay(Taps(gains * [1, 20, 1], np.array([1e-7, 1e-5, 3.0]))) == 1e-5
    with pytest.raises(ValueError, match="path delays must be >= 0, got -1e-07 s"):
        longest_delay(Taps(gains, np.array([-1e-7, 1e-5, 3.0])))


def test_a_path_is_negligible_beside_those_of_its_own_client_only():
    gains = np.array([[[1.0, 1e-4]], [[1e-4, 1e-4]]], np.complex64)
    delays = np.array([[1e-7, 5e-7], [1e-7, 3e-7]])
    assert longest_delay(Taps(gains, delays)) == 3e-7


def test_steering_is_a_ramp_of_phase():
    ramp = steering(np.array([2.5 * SAMPLE]), GRID)[0]
    np.testing.assert_allclose(ramp, np.exp(-2j * np.pi * GRID.carriers * 2.5 / 64), atol=1e-6)
    assert steering(np.zeros((3, 2)), GRID).shape == (3, 2, GRID.num_carriers)


def test_a_complex_product_by_reals(rng):
    vectors, matrix = complex_normal(rng, (3, 2, 5)), complex_normal(rng, (5, 7))
    product = times_real(vectors, as_real(matrix))
    np.testing.assert_allclose(product, vectors.astype(complex) @ matrix, atol=1e-5)
    strided = complex_normal(rng, (5, 2, 3)).T
    assert not strided.flags.c_contiguous
    np.testing.assert_allclose(times_real(strided, as_real(matrix)), strided @ matrix, atol=1e-5)
