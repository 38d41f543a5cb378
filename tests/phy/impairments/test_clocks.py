"""Slots that come early or late, and clocks that drift."""

from __future__ import annotations

import numpy as np
import pytest

from phy.impairments import ClockOffset, TimingAdvance, TimingOffset
from phy.randomness import complex_normal
from phy.waveform import demodulate, modulate
from tests.phy.impairments.context import GRID, check_message, slot_of


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: TimingOffset(std=-1.0), ["TimingOffset.std must be", ">= 0, got -1.0"]),
        (lambda: TimingOffset(np.inf), ["TimingOffset.offset must be", "got inf"]),
        (
            lambda: TimingOffset(advance=3),
            ["TimingOffset.advance must be TimingAdvance(...) or None, got 3"],
        ),
        (lambda: ClockOffset(ppm=2000.0), ["ClockOffset.ppm must", "<= 1000, got 2000.0"]),
        (lambda: ClockOffset(std_ppm=-1.0), ["ClockOffset.std_ppm must", ">= 0", "got -1.0"]),
    ],
)
def test_bad_values_are_refused_with_the_reason(make, names):
    check_message(make, names)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="ClockOffset has no option 'PPM'; did you mean 'ppm'"):
        ClockOffset(PPM=3)


def test_what_does_not_fit_the_grid_or_the_side_is_refused():
    TimingOffset(64).check(GRID, "transmit")
    check_message(
        lambda: TimingOffset(65).check(GRID, "transmit"),
        ["TimingOffset must be at most 64 samples", "offset=65", "reach 65", "neighbour"],
    )
    check_message(
        lambda: TimingOffset(std=8.5, advance=TimingAdvance()).check(GRID, "transmit"),
        ["at most 32 samples", "which may reach 34", "half of fft_size, the range of advance"],
    )
    check_message(
        lambda: TimingOffset(1, advance=TimingAdvance()).check(GRID, "receive"),
        ["receive: TimingOffset.advance must be None", "put it in transmit"],
    )
    check_message(
        lambda: TimingOffset([1, 2]).check(GRID, "transmit", 3),
        ["TimingOffset.offset must be a scalar or one value per client", "got 2 values"],
    )
    check_message(
        lambda: ClockOffset([1.0, 2.0]).check(GRID, "receive"),
        ["receive: ClockOffset.ppm must be a scalar, the server's own, got (1.0, 2.0)"],
    )


def test_late_and_early_slots_are_shifts(rng):
    samples = complex_normal(rng, (2, 50))
    out = TimingOffset([4, -7]).apply(samples, slot_of(rng))
    np.testing.assert_array_equal(out[0], np.concatenate([np.zeros(4), samples[0, :-4]]))
    np.testing.assert_array_equal(out[1], np.concatenate([samples[1, 7:], np.zeros(7)]))


def test_within_the_prefix_a_late_slot_is_a_ramp_of_phase(rng):
    """k samples late: exp(-j 2 pi n k / N) on carrier n, and nothing else."""
    elements = complex_normal(rng, (2, 3, GRID.num_carriers))
    slot = slot_of(rng)
    out = TimingOffset(5).apply(modulate(GRID, elements), slot)
    ramp = np.exp(-2j * np.pi * GRID.used_carriers * 5 / 64)
    np.testing.assert_allclose(demodulate(GRID, out, 0, 3), elements * ramp, atol=1e-5)


def test_a_command_brings_the_slot_back(rng):
    samples = complex_normal(rng, (2, 240))
    flat = np.ones((2, GRID.num_carriers), np.complex64)
    offset = TimingOffset([5, -9], advance=TimingAdvance(snr_db=np.inf))
    out = offset.apply(samples, slot_of(rng, response=flat, estimate=flat))
    np.testing.assert_array_equal(out, samples)


def test_a_drifting_clock_reads_a_tone_faster():
    """x[n] becomes x(n (1 + ppm 1e-6)), counted from the beginning of the slot."""
    n = np.arange(2000)
    tone = np.exp(2j * np.pi * 0.2 * n).astype(np.complex64)
    slot = slot_of(np.random.default_rng(0), start=-40)
    out = ClockOffset([500.0, -200.0]).apply(np.tile(tone, (2, 1)), slot)
    for row, ppm in zip(out, (500e-6, -200e-6), strict=True):
        # sample n was taken at time n - 40 of the slot
        expected = np.exp(2j * np.pi * 0.2 * (n + ppm * (n - 40)))
        np.testing.assert_allclose(row[50:-50], expected[50:-50], atol=4e-4)
