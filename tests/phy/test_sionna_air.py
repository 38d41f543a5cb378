"""Sionna's own blocks and the fast air are the same air."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid, PerfectCsi
from phy.air import FastAir
from phy.randomness import complex_normal
from phy.sionna_air import SionnaAir
from phy.time_channel import draw_time_channel
from tests.phy.given import fixed, turning

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), symbols_per_slot=3)
SAMPLE = 1 / GRID.sampling_rate
GAINS = np.array([[0.7, 0.2 - 0.5j], [0.3j, -0.6]])
DELAYS = np.array([0.3, 5.6]) * SAMPLE
AMPLITUDE = np.array([1.0, 2.5])


@pytest.mark.parametrize("moving", [False, True], ids=["static", "moving"])
@pytest.mark.parametrize("known", [True, False], ids=["known delays", "drawn delays"])
def test_both_airs_carry_the_same_samples(moving, known, rng):
    if moving:
        dopplers = np.array([[300.0, -200.0], [100.0, 250.0]])
        fading = turning(GAINS, dopplers, DELAYS, known=known)
    else:
        fading = fixed(GAINS, DELAYS, known=known)
    channel, _ = draw_time_channel(
        GRID,
        fading,
        PerfectCsi(),
        clients=np.arange(2),
        path_gain=AMPLITUDE**2,
        num_symbols=5,
        time=0.0,
        rng=rng,
        device_rng=None,
    )
    ours, theirs = FastAir(GRID, AMPLITUDE), SionnaAir(GRID, AMPLITUDE)
    for slot, num_symbols in enumerate((3, 2)):
        elements = complex_normal(rng, (2, num_symbols, GRID.num_carriers))
        samples = ours.modulate(elements)
        np.testing.assert_allclose(theirs.modulate(elements), samples, atol=1e-5)
        for add in (True, False):
            received = ours.propagate(samples, channel, slot, add=add)
            reference = theirs.propagate(samples, channel, slot, add=add)
            assert received.shape == reference.shape
            np.testing.assert_allclose(received, reference, atol=5e-5)
        first = channel.lags.first
        heard = ours.demodulate(received, first, num_symbols)
        np.testing.assert_allclose(
            theirs.demodulate(received, first, num_symbols), heard, atol=5e-5
        )
    assert theirs.shortcut(elements, channel, 0) is None
