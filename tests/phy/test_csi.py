"""What transmitters know of their channels.

Oracle: least squares has MSE N0 / P_pilot per pilot, n pilots divide it by n, and keeping L of N
taps multiplies it by L / N.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import j0

from otafl._base import lazy
from phy import AgedCsi, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Tdl
from phy.channel import draw_channel
from phy.csi import Csi, Observed, qpsk_pilots
from phy.randomness import complex_normal
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)


def unit(count):
    return np.ones(count)


def observed(h, grid=GRID, path_gain=None):
    """A channel that looks the same at any time."""
    return Observed(grid, unit(len(h)) if path_gain is None else path_gain, lambda delay: h)


def errors_of(csi, rng, grid=GRID, clients=200, path_gain=1.0):
    h = complex_normal(rng, (clients, 1, 1)) * np.ones((1, 1, grid.num_carriers), np.complex64)
    return csi.estimate(observed(h, grid, np.full(clients, path_gain)), rng) - h


def test_perfect_csi_is_the_channel_itself(rng):
    h = complex_normal(rng, (3, 1, 64))
    assert PerfectCsi().estimate(observed(h), rng) is h


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
    # one value per client: carriers share the error of the same taps
    mean_error = np.square(np.abs(error)).mean(axis=(1, 2))  # of 16 exponentials each
    expected = pytest.approx(0.1 * 16 / grid.num_carriers, rel=6 / 4 / np.sqrt(len(mean_error)))
    assert mean_error.mean() == expected
    claimed = csi.error_variance(grid, unit(1))[0]
    first = np.square(np.abs(error[:, 0, 0]))  # exponential: its deviation is its mean
    assert first.mean() == pytest.approx(claimed[0], rel=6 / np.sqrt(len(first)))
    assert claimed.mean() == pytest.approx(0.1 * 16 / grid.num_carriers, rel=1e-5)


def test_a_channel_of_fractional_delays_survives_the_cut_of_taps(rng):
    grid, csi = OfdmGrid(), PilotCsi(snr_db=np.inf, num_taps=64)
    channel = draw_channel(
        grid,
        Tdl(model="A"),
        csi,
        clients=np.arange(50),
        path_gain=unit(50),
        num_symbols=1,
        time=0.0,
        rng=rng,
        device_rng=None,
    )
    error = np.square(np.abs(channel.estimate - channel.response)).mean()
    assert error < 1e-4


@pytest.mark.parametrize("csi", [NoisyCsi(0.5), PilotCsi(snr_db=3.0)], ids=str)
def test_errors_are_new_in_every_slot(csi, rng):
    h = complex_normal(rng, (50, 2, 64))
    error = csi.estimate(observed(h), rng) - h
    check_mean((error[:, 0] * error[:, 1].conj()).real, 0.0)


def test_a_weak_path_makes_pilots_worse(rng):
    csi = PilotCsi(snr_db=20.0)
    error = errors_of(csi, rng, path_gain=0.1)
    check_mean(np.square(np.abs(error)), 0.1)
    np.testing.assert_allclose(csi.error_variance(GRID, np.full(2, 0.1)), 0.1)


def test_pilot_estimate_is_that_of_sionnas_estimator(rng):
    """The same pilots, channel and noise through LSChannelEstimator, averaged over the pilots."""
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.ofdm import LSChannelEstimator, PilotPattern, ResourceGrid

    csi, seed = PilotCsi(snr_db=3.0, num_pilots=2), int(rng.integers(2**32))
    h = complex_normal(rng, (1, 1, GRID.num_carriers))
    ours = csi.estimate(observed(h), np.random.default_rng(seed))

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
    channel = draw_channel(
        grid,
        fading,
        csi,
        clients=np.arange(clients),
        path_gain=unit(clients),
        num_symbols=1,
        time=3.0,
        rng=rng,
        device_rng=np.random.default_rng(int(rng.integers(2**32))),
    )
    return channel.response[:, 0, 0], channel.estimate[:, 0, 0]


def test_aged_csi_is_correlated_by_the_fadings_own_doppler(rng):
    fading = Rayleigh(speed=3.0)
    delay = 0.2 / fading.doppler
    h, seen = draw_aged(AgedCsi(delay), fading, rng)
    check_mean((h * seen.conj()).real, j0(2 * np.pi * 0.2))
    check_mean(np.square(np.abs(seen)), 1.0)


def test_ageing_comes_on_top_of_an_estimate(rng):
    fading = Rayleigh(speed=3.0)
    h, seen = draw_aged(AgedCsi(0.2 / fading.doppler, of=NoisyCsi(0.5)), fading, rng)
    correlation = j0(2 * np.pi * 0.2)
    check_mean(np.square(np.abs(seen)), 1.5)
    check_mean(np.square(np.abs(h - seen)), 2 - 2 * correlation + 0.5)


def test_a_static_channel_does_not_age(rng):
    h, seen = draw_aged(AgedCsi(1.0), Rayleigh(), rng, clients=5)
    np.testing.assert_array_equal(h, seen)


def test_ages_add_up(rng):
    """What was known a while ago of what was known a while before that."""
    twice, once = AgedCsi(1e-3, of=AgedCsi(2e-3, of=NoisyCsi(0.1))), AgedCsi(3e-3, of=NoisyCsi(0.1))
    assert twice.delays == once.delays == (0.003,)
    assert AgedCsi(0.25, of=AgedCsi(0.5, of=AgedCsi(1.0))).delays == (1.75,)
    seed = int(rng.integers(2**32))
    (h, seen), (same, expected) = (
        draw_aged(csi, Rayleigh(speed=3.0), np.random.default_rng(seed), clients=5)
        for csi in (twice, once)
    )
    np.testing.assert_array_equal(h, same)
    np.testing.assert_allclose(seen, expected, rtol=1e-5)
    assert np.abs(seen - h).max() > 1e-3


def test_aged_csi_asks_the_channel_for_its_response_at_the_earlier_time(rng):
    asked = []

    def response_before(delay):
        asked.append(delay)
        return np.full((1, 1, 64), 10 * delay, np.complex64)

    moving = Observed(GRID, unit(1), response_before)
    assert AgedCsi(0.25).estimate(moving, rng)[0, 0, 0] == 2.5
    assert AgedCsi(0.25, of=AgedCsi(0.5)).estimate(moving, rng)[0, 0, 0] == 7.5
    assert PerfectCsi().estimate(moving, rng)[0, 0, 0] == 0
    assert asked == [0.25, 0.75, 0.0]
    assert moving.earlier(0.5).path_gain is moving.path_gain
    assert moving.earlier(0.5).grid is GRID


def test_ageing_keeps_everything_else_of_an_estimate():
    pilots = PilotCsi(snr_db=7.0, num_pilots=3, num_taps=8)
    aged = AgedCsi(1e-3, of=pilots)
    assert (pilots.pilots_per_slot, aged.pilots_per_slot) == (3, 3)
    assert (pilots.additive, aged.additive) == (False, False)
    assert AgedCsi(1e-3).additive
    assert PilotCsi().additive
    assert NoisyCsi().additive
    assert (NoisyCsi().pilots_per_slot, NoisyCsi().delays) == (0, (0.0,))
    np.testing.assert_array_equal(
        aged.error_variance(GRID, unit(2)), pilots.error_variance(GRID, unit(2))
    )


@pytest.mark.parametrize(
    ("num_taps", "first", "last"),
    [(1, 0, 0), (4, -1, 2), (16, -4, 11), (19, -4, 14), (64, -16, 47)],
)
def test_a_quarter_of_the_kept_taps_lies_before_time_zero(num_taps, first, last, rng):
    """On a grid without guards, a delay of whole samples passes unchanged or not at all."""
    lags = np.arange(last - 63, last + 1)  # one period of the grid's 64 samples
    ramps = np.exp(-2j * np.pi / 64 * np.outer(lags, GRID.carriers)).astype(np.complex64)
    kept = PilotCsi(snr_db=np.inf, num_taps=num_taps).estimate(observed(ramps[:, None]), rng)[:, 0]
    passes = (lags >= first) & (lags <= last)
    assert passes.sum() == num_taps
    np.testing.assert_allclose(kept[passes], ramps[passes], atol=1e-5)
    np.testing.assert_allclose(kept[~passes], 0, atol=1e-5)


def test_a_pilot_is_a_unit_qpsk_symbol_that_everyone_knows():
    pilots = qpsk_pilots(2, 64)
    np.testing.assert_allclose(np.abs(pilots.real), np.sqrt(0.5), rtol=1e-6)
    np.testing.assert_allclose(np.abs(pilots.imag), np.sqrt(0.5), rtol=1e-6)
    assert len(np.unique(pilots)) == 4
    assert qpsk_pilots(2, 64) is pilots
    with pytest.raises(ValueError, match="read-only"):
        pilots[0, 0] = 1


def test_a_users_csi_needs_two_methods(rng):
    class Blind(Csi):
        def estimate(self, observed, rng):
            return np.ones_like(observed.response)

        def error_variance(self, grid, path_gain):
            return np.ones((len(path_gain), grid.num_carriers))

    assert isinstance(Blind(), Csi)
    h = complex_normal(rng, (2, 1, 64))
    np.testing.assert_array_equal(AgedCsi(1e-3, of=Blind()).estimate(observed(h), rng), 1)
    for wrong in (Blind, "perfect", None):
        with pytest.raises(
            ValueError,
            match="AgedCsi.of must be an instance of .* such as PerfectCsi",
        ):
            AgedCsi(1e-3, of=wrong)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NoisyCsi(-0.1), r"variance must be a finite number >= 0, got -0\.1"),
        (lambda: NoisyCsi(np.inf), "variance must be a finite number >= 0, got inf"),
        (lambda: PilotCsi(snr_db=np.nan), "PilotCsi.snr_db must be .*>= -200, or inf, got nan"),
        (lambda: PilotCsi(num_pilots=0), "num_pilots must be a whole number >= 1, got 0"),
        (lambda: PilotCsi(num_taps=0), "num_taps must be a whole number >= 1, got 0"),
        (lambda: AgedCsi(-1e-3), r"AgedCsi.delay must be a finite number >= 0, got -0\.001"),
        (
            lambda: AgedCsi(1e-3, of=PerfectCsi),
            r"AgedCsi.of must be an instance of .* such as PerfectCsi\(\).*got <class",
        ),
        (
            lambda: PilotCsi(num_taps=65).error_variance(GRID, unit(1)),
            "num_taps must be at most the number of used carriers, 64, got 65",
        ),
    ],
)
def test_impossible_csi_is_refused_by_name_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NoisyCsi(Variance=1), "NoisyCsi has no option 'Variance'.*'variance'"),
        (lambda: PilotCsi(snr_dB=3), "PilotCsi has no option 'snr_dB'.*'snr_db'"),
        (lambda: AgedCsi(dellay=1e-3), "AgedCsi has no option 'dellay'.*'delay'"),
    ],
)
def test_a_misspelt_option_is_refused_with_the_nearest_name(build, message):
    with pytest.raises(TypeError, match=message):
        build()
