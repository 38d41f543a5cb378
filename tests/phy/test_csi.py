"""What transmitters know. Oracle: least squares has MSE N0 / P_pilot a pilot, n pilots divide it by
n, and keeping L of N taps multiplies it by L / N."""

from __future__ import annotations

import numpy as np
import pytest

from phy import AgedCsi, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Tdl, quiet
from phy.channel import draw_channels
from phy.csi import qpsk_pilots
from phy.randomness import complex_normal
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)


def unit(count):
    return np.ones(count)


def errors_of(csi, rng, grid=GRID, clients=200, path_gain=1.0):
    h = complex_normal(rng, (clients, 1, 1)) * np.ones((1, 1, grid.num_carriers), np.complex64)
    return csi.estimate(h, grid, np.full(clients, path_gain), rng) - h


def test_perfect_csi_is_the_channel_itself(rng):
    h = complex_normal(rng, (3, 1, 64))
    assert PerfectCsi().estimate(h, GRID, unit(3), rng) is h


@pytest.mark.parametrize("variance", [0.0, 0.01, 1.0])
def test_noisy_csi_has_the_stated_variance(variance, rng):
    error = errors_of(NoisyCsi(variance), rng)
    if variance == 0:
        assert not error.any()
        return
    check_mean(np.square(np.abs(error)), variance)
    check_mean((error[:, 0, 0] * error[:, 0, 1].conj()).real, 0.0)  # independent carriers
    check_mean((error[::2] * error[1::2].conj()).real, 0.0)  # independent clients


@pytest.mark.parametrize(("snr_db", "num_pilots"), [(20.0, 1), (0.0, 1), (10.0, 4)])
def test_least_squares_error_falls_with_snr_and_pilots(snr_db, num_pilots, rng):
    error = errors_of(PilotCsi(snr_db, num_pilots), rng)
    check_mean(np.square(np.abs(error)), 10 ** (-snr_db / 10) / num_pilots)


@pytest.mark.parametrize(
    "grid", [GRID, OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), dc_null=True)]
)
def test_keeping_some_taps_keeps_their_share_of_the_error(grid, rng):
    csi = PilotCsi(snr_db=10.0, num_taps=16)
    error = errors_of(csi, rng, grid)
    # one value a client: carriers share the error of the same taps
    mean_error = np.square(np.abs(error)).mean(axis=(1, 2))
    check_mean(mean_error, 0.1 * 16 / grid.num_carriers)
    claimed = csi.error_variance(grid, unit(1))[0]
    check_mean(np.square(np.abs(error[:, 0, 0])), claimed[0])
    assert claimed.mean() == pytest.approx(0.1 * 16 / grid.num_carriers, rel=1e-5)


def test_a_channel_of_fractional_delays_survives_the_cut_of_taps(rng):
    grid, csi = OfdmGrid(), PilotCsi(snr_db=np.inf, num_taps=64)
    [channel] = draw_channels(
        grid,
        Tdl("A"),
        csi,
        clients=np.arange(50),
        path_gain=unit(50),
        num_slots=1,
        time=0.0,
        rngs=[rng],
        device_rngs=[None],
    )
    error = np.square(np.abs(channel.estimate - channel.response)).mean()
    assert error < 1e-4


@pytest.mark.parametrize("csi", [NoisyCsi(0.5), PilotCsi(snr_db=3.0)], ids=str)
def test_errors_are_new_in_every_slot(csi, rng):
    h = complex_normal(rng, (50, 2, 64))
    error = csi.estimate(h, GRID, unit(50), rng) - h
    check_mean((error[:, 0] * error[:, 1].conj()).real, 0.0)


def test_a_weak_path_makes_pilots_worse(rng):
    csi = PilotCsi(snr_db=20.0)
    error = errors_of(csi, rng, path_gain=0.1)
    check_mean(np.square(np.abs(error)), 0.1)
    np.testing.assert_allclose(csi.error_variance(GRID, np.full(2, 0.1)), 0.1)


def test_pilot_estimate_is_that_of_sionnas_estimator(rng):
    """The same pilots, channel and noise through LSChannelEstimator, averaged over the pilots."""
    quiet.sionna()
    import tensorflow as tf
    from sionna.phy.ofdm import LSChannelEstimator, PilotPattern, ResourceGrid

    csi, seed = PilotCsi(snr_db=3.0, num_pilots=2), int(rng.integers(2**32))
    h = complex_normal(rng, (1, 1, GRID.num_carriers))
    ours = csi.estimate(h, GRID, unit(1), np.random.default_rng(seed))

    pilots = qpsk_pilots(2, GRID.num_carriers)
    noise = complex_normal(np.random.default_rng(seed), (1, 1, 2, 64), std=10 ** (-3 / 20))
    received = h[:, :, None] * pilots + noise
    mask = np.ones((1, 1, 2, GRID.num_carriers), bool)
    resources = ResourceGrid(
        num_ofdm_symbols=2,
        fft_size=GRID.fft_size,
        subcarrier_spacing=GRID.subcarrier_spacing,
        pilot_pattern=PilotPattern(mask, pilots.reshape(1, 1, -1)),
    )
    estimator = LSChannelEstimator(resources, interpolation_type="nn")
    y = tf.constant(received.reshape(1, 1, 1, 2, -1))
    theirs, _ = estimator(y, tf.constant(10 ** (-0.3), tf.float32))
    theirs = theirs.numpy().reshape(2, -1).mean(axis=0)
    np.testing.assert_allclose(ours[0, 0], theirs, atol=1e-6)


def draw_aged(csi, fading, rng, clients=3000):
    grid = OfdmGrid(fft_size=1, cp_length=0, guards=(0, 0), dc_null=False)
    [channel] = draw_channels(
        grid,
        fading,
        csi,
        clients=np.arange(clients),
        path_gain=unit(clients),
        num_slots=1,
        time=3.0,
        rngs=[rng],
        device_rngs=[np.random.default_rng(int(rng.integers(2**32)))],
    )
    return channel.response[:, 0, 0], channel.estimate[:, 0, 0]


def test_aged_csi_is_correlated_by_the_fadings_own_doppler(rng):
    fading = Rayleigh(speed=3.0)
    delay = 0.2 / fading.doppler
    h, seen = draw_aged(AgedCsi(delay), fading, rng)
    from links.theory import jakes

    check_mean((h * seen.conj()).real, jakes(fading.doppler, delay))
    check_mean(np.square(np.abs(seen)), 1.0)


def test_ageing_comes_on_top_of_an_estimate(rng):
    fading = Rayleigh(speed=3.0)
    h, seen = draw_aged(AgedCsi(0.2 / fading.doppler, of=NoisyCsi(0.5)), fading, rng)
    from links.theory import jakes

    correlation = jakes(fading.doppler, 0.2 / fading.doppler)
    check_mean(np.square(np.abs(seen)), 1.5)
    check_mean(np.square(np.abs(h - seen)), 2 - 2 * correlation + 0.5)


def test_a_static_channel_does_not_age(rng):
    h, seen = draw_aged(AgedCsi(1.0), Rayleigh(), rng, clients=5)
    np.testing.assert_array_equal(h, seen)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NoisyCsi(-0.1), r"variance = -0\.1"),
        (lambda: NoisyCsi(np.inf), "variance = inf"),
        (lambda: PilotCsi(snr_db=np.nan), "PilotCsi.snr_db = nan"),
        (lambda: PilotCsi(num_pilots=0), "num_pilots = 0"),
        (lambda: PilotCsi(num_taps=0), "num_taps = 0"),
        (lambda: AgedCsi(-1e-3), r"AgedCsi.delay = -0\.001"),
        (lambda: AgedCsi(1e-3, of=AgedCsi(1e-3)), "aged already"),
        (lambda: AgedCsi(1e-3, of=PerfectCsi), "AgedCsi.of = <class"),
        (lambda: PilotCsi(num_taps=65).error_variance(GRID, unit(1)), "num_taps = 65"),
    ],
)
def test_impossible_csi_is_refused_by_name_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()
