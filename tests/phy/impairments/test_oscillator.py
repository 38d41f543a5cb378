"""Carriers that are off, and phases that wander."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.impairments import CarrierOffset, CarrierSync, Devices, PhaseNoise, SlotContext
from phy.impairments.theory import carrier_offset
from phy.randomness import complex_normal
from phy.waveform import demodulate, modulate
from tests.phy.impairments.context import GRID, check_message, slot_of
from tests.tolerance import check_mean


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: PhaseNoise(linewidth=-1.0), ["PhaseNoise.linewidth must be", ">= 0", "got -1.0"]),
        (lambda: PhaseNoise(linewidth=np.nan), ["PhaseNoise.linewidth must be", "got nan"]),
        (lambda: PhaseNoise(linewidth=1e12), ["linewidth must be", "<= 1e+09", "got 1"]),
        (
            lambda: CarrierOffset(0.6),
            ["CarrierOffset must be at most 0.5", "offset=0.6", "reach 0.6 spacings", "neighbour"],
        ),
        (lambda: CarrierOffset([0.1, -0.51]), ["reach 0.51 spacings"]),
        (
            lambda: CarrierOffset(std=0.2),
            ["std=0.2", "four standard deviations", "0.8", "at most 0.5"],
        ),
        (lambda: CarrierOffset(std=-0.1), ["CarrierOffset.std must be", ">= 0, got -0.1"]),
        (lambda: CarrierOffset(np.nan), ["CarrierOffset.offset must be", "got nan"]),
        (
            lambda: CarrierOffset(0.1, unit="Hz"),
            ["CarrierOffset.unit must be one of 'spacing', 'ppm', got 'Hz'"],
        ),
        (
            lambda: CarrierOffset(0.1, sync=True),
            ["CarrierOffset.sync must be CarrierSync(...) or None, got True"],
        ),
        (lambda: CarrierOffset(3.6, sync=CarrierSync()), ["at most 3.5", "the range of sync"]),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    check_message(make, names)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="CarrierOffset has no option 'ofset'; .*'offset'"):
        CarrierOffset(ofset=0.1)
    with pytest.raises(TypeError, match="PhaseNoise has no option 'LineWidth'; .*'linewidth'"):
        PhaseNoise(LineWidth=0.1)


def test_what_does_not_fit_the_grid_or_the_side_is_refused():
    # 20 ppm of 3.5 GHz are 70 kHz, 2.33 spacings of 30 kHz
    check_message(
        lambda: CarrierOffset(20.0, unit="ppm").check(GRID, "transmit"),
        ["2.33 spacings", "unit='ppm'", "sync=CarrierSync() helps"],
    )
    CarrierOffset(20.0, unit="ppm", sync=CarrierSync()).check(GRID, "transmit")
    check_message(
        lambda: CarrierOffset(0.1, sync=CarrierSync()).check(GRID, "receive"),
        ["receive: CarrierOffset.sync must be None", "put it in transmit"],
    )
    check_message(
        lambda: CarrierOffset([0.1, 0.2]).check(GRID, "receive"),
        ["receive: CarrierOffset.offset must be a scalar, the server's own, got (0.1, 0.2)"],
    )
    check_message(
        lambda: CarrierOffset([0.1, 0.2]).check(GRID, "transmit", 3),
        ["CarrierOffset.offset must be a scalar or one value per client", "client 2 takes part"],
    )


def test_an_offset_turns_every_sample_from_the_beginning_of_the_slot(rng):
    samples = complex_normal(rng, (2, 240))
    slot = slot_of(rng, start=-5)
    out = CarrierOffset([0.1, -0.3]).apply(samples, slot)
    turns = np.outer([0.1, -0.3], np.arange(240) - 5) / 64
    np.testing.assert_allclose(out, samples * np.exp(2j * np.pi * turns), atol=1e-6)


def test_parts_per_million_of_the_carrier_frequency(rng):
    """1 ppm of 3 GHz is a tenth of a spacing of 30 kHz."""
    samples = complex_normal(rng, (2, 240))
    spacings = CarrierOffset(0.1).apply(samples, slot_of(rng))
    ppm = CarrierOffset(1.0, unit="ppm", carrier_frequency=3e9).apply(samples, slot_of(rng))
    np.testing.assert_allclose(ppm, spacings, atol=1e-6)


def test_an_offset_of_one_tenth_in_literal_numbers():
    """S0 = sin(0.1 pi) / (64 sin(0.1 pi / 64)) = 0.983636; interference 1 - S0^2."""
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)
    effect = carrier_offset(grid, 0.1, symbol=2)
    assert abs(effect.gain) == pytest.approx(0.983636, abs=2e-6)
    assert float(effect.distortion) == pytest.approx(1 - 0.983636**2, abs=4e-6)
    elements = np.zeros((1, 3, 64), np.complex64)
    elements[0, :, 40] = 1  # carrier 8 alone
    slot = SlotContext(grid, 3, np.ones(1), Devices(0, [0]), np.random.default_rng(0))
    heard = demodulate(grid, CarrierOffset(0.1).apply(modulate(grid, elements), slot), 0, 3)
    assert heard[0, 2, 40] == pytest.approx(complex(effect.gain), abs=1e-5)
    leaked = np.square(np.abs(np.delete(heard[0, 2], 40))).sum()
    assert leaked == pytest.approx(float(effect.distortion), rel=1e-3)


def test_synchronisation_leaves_a_small_offset(rng):
    """Estimated per device and removed; without noise it is exact."""
    samples = complex_normal(rng, (2, 240))
    flat = np.ones((2, GRID.num_carriers), np.complex64)
    offset = CarrierOffset([3.0, -1.7], sync=CarrierSync(snr_db=np.inf))
    out = offset.apply(samples, slot_of(rng, response=flat, estimate=flat))
    np.testing.assert_allclose(out, samples, atol=1e-3)


def test_phase_noise_begins_at_zero_and_spreads_as_a_wiener_process(rng):
    ones = np.ones((4000, 200), np.complex64)
    slot = SlotContext(GRID, 2, np.ones(4000), Devices(1, range(4000)), rng)
    linewidth = 500.0
    phase = np.angle(PhaseNoise(linewidth).apply(ones, slot))
    np.testing.assert_array_equal(phase[:, 0], 0)
    for sample in (1, 50, 199):
        variance = 2 * np.pi * linewidth * sample / GRID.sampling_rate
        check_mean(np.square(phase[:, sample]), variance)


def test_phase_noise_keeps_amplitudes_and_is_new_in_every_slot(rng):
    samples = complex_normal(rng, (2, 200))
    slot = slot_of(rng)
    first, second = (PhaseNoise(1e4).apply(samples, slot) for _ in range(2))
    np.testing.assert_allclose(np.abs(first), np.abs(samples), rtol=1e-5)
    assert np.abs(first - second).max() > 1e-3
    np.testing.assert_allclose(PhaseNoise(0.0).apply(samples, slot), samples, atol=1e-6)
