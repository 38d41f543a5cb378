"""How well offsets are found from preambles."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.impairments import CarrierSync, TimingAdvance
from tests.phy.impairments.context import check_message
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)


def flat(count):
    return np.ones((count, 64), np.complex64)


def echoes(count):
    """Two paths, three samples apart, the later one stronger."""
    response = 0.6 + 0.8j * np.exp(-2j * np.pi * GRID.used_carriers * 3 / 64)
    return np.tile(response.astype(np.complex64), (count, 1))


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (
            lambda: TimingAdvance(resolution=0.0),
            ["TimingAdvance.resolution must be a finite number > 0, got 0.0"],
        ),
        (lambda: CarrierSync(snr_db=np.nan), ["CarrierSync.snr_db must be", "or inf, got nan"]),
        (lambda: TimingAdvance(snr_db=-300), ["TimingAdvance.snr_db must be", ">= -200", "-300"]),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    check_message(make, names)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="CarrierSync has no option 'SNR_db'; .*'snr_db'"):
        CarrierSync(SNR_db=3)
    with pytest.raises(TypeError, match="TimingAdvance has no option 'resolutoin'"):
        TimingAdvance(resolutoin=3)


@pytest.mark.parametrize("response", [flat, echoes])
def test_without_noise_any_offset_in_range_is_found(response, rng):
    offset = np.linspace(-3.5, 3.5, 15)
    found = CarrierSync(snr_db=np.inf).estimate(offset, GRID, response(15), rng)
    np.testing.assert_allclose(found, offset, atol=1e-4)


def test_the_error_has_mooses_variance(rng):
    """1 / (4 pi^2 n snr) at high SNR, 64 carriers at 20 dB: a deviation of 0.001989 spacings."""
    offset = np.full(4000, 1.3)
    error = CarrierSync(snr_db=20.0).estimate(offset, GRID, flat(4000), rng) - 1.3
    check_mean(error, 0.0)
    # the next term of the variance is below 1 / (2 snr)
    variance = 1 / (4 * np.pi**2 * 64 * 100)
    assert variance**0.5 == pytest.approx(0.001989, abs=1e-6)
    ratio = np.square(error).mean() / variance
    assert ratio == pytest.approx(1, abs=5 * np.sqrt(2 / 4000) + 0.01)


def test_a_grid_without_room_for_the_preamble_is_refused():
    CarrierSync().check(GRID)
    check_message(
        lambda: CarrierSync().check(OfdmGrid(63, 8, (0, 0), dc_null=False)),
        ["fft_size is divisible by 8", "got fft_size = 63"],
    )
    # carriers 1 to 7 of 64: none of every eighth
    check_message(
        lambda: CarrierSync().check(OfdmGrid(64, 8, (33, 24), dc_null=False)),
        ["a used carrier among every 8th", "7 used carriers"],
    )


@pytest.mark.parametrize("response", [flat, echoes])
def test_a_time_of_arrival_is_found_without_the_channels_own_delay(response, rng):
    offset = np.array([0.0, 5.0, -12.0, 31.0, 3.4])
    advance = TimingAdvance(snr_db=np.inf)
    command = advance.command(offset, GRID, response(5), response(5), rng)
    np.testing.assert_array_equal(command, [0, 5, -12, 31, 3])


def test_commands_come_in_steps_of_the_resolution(rng):
    offset = np.array([3.4, -5.1, 8.0])
    for resolution, expected in (
        (0.5, [3.5, -5.0, 8.0]),
        (4.0, [4, -4, 8]),
        (0.125, [3.375, -5.125, 8]),
    ):
        advance = TimingAdvance(resolution=resolution, snr_db=np.inf)
        command = advance.command(offset, GRID, flat(3), flat(3), rng)
        np.testing.assert_allclose(command, expected)


def test_noise_moves_few_commands(rng):
    """At 20 dB on 64 carriers a peak is 38 dB above the noise: none is off by a sample."""
    offset = rng.uniform(-20, 20, 500)
    command = TimingAdvance(snr_db=20.0).command(offset, GRID, flat(500), flat(500), rng)
    assert np.abs(command - offset).max() <= 0.5 + 1 / 16 + 0.1
