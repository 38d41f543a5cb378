"""Sionna's own blocks and the fused medium carry the same block."""

from __future__ import annotations

import numpy as np
import pytest

from phy import NoisyCsi, OfdmGrid, Packing, PerfectCsi
from phy.channel import draw_channel
from phy.fused_medium import FusedMedium
from phy.power import invert, mmse
from phy.sionna_medium import SionnaMedium
from tests.phy.given import fixed, turning

GRID = OfdmGrid(fft_size=32, cp_length=16, guards=(3, 2), dc_null=True, symbols_per_slot=3)
DELAYS = np.array([0.0, 1.3, 6.8]) / GRID.sampling_rate
PATH_GAIN = np.array([1.0, 0.25])


@pytest.mark.parametrize("grid", [GRID, OfdmGrid(32, 16, (3, 2), symbols_per_slot=3, pilots=4)])
@pytest.mark.parametrize("moving", [False, True], ids=["static", "moving"])
@pytest.mark.parametrize("csi", [PerfectCsi(), NoisyCsi(0.05)], ids=str)
@pytest.mark.parametrize("control", ["inversion", "mmse"])
def test_both_media_carry_the_same_block(grid, moving, csi, control, rng):
    gains = np.array([[0.7, 0.2 - 0.5j, 0.3j], [0.3j, -0.6, 0.5]])
    length = 2 * grid.num_carriers * 7 - 3  # slots of 3, 3 and 1 symbols
    if moving:
        fading = turning(gains, np.array([[90.0, -40.0, 0.0], [10.0, 70.0, -80.0]]), DELAYS)
    else:
        fading = fixed(gains, DELAYS)
    channel = draw_channel(
        grid,
        fading,
        csi,
        clients=np.arange(2),
        path_gain=PATH_GAIN,
        num_symbols=7,
        time=0.3,
        rng=rng,
        device_rng=None,
    )
    if control == "inversion":
        precoding = invert(channel.response, channel.estimate, PATH_GAIN, truncation=0.05)
    else:
        precoding = mmse(channel.response, channel.estimate, PATH_GAIN, np.ones(2), noise=0.1)
    packing = Packing(grid, length)
    signals = rng.standard_normal((2, length)).astype(np.float32)
    ours, spent = FusedMedium(packing, precoding).superpose(signals)
    reference = SionnaMedium(packing, precoding, channel, PATH_GAIN)
    theirs, energy = reference.superpose(signals)
    assert theirs.shape == (7, grid.num_carriers)
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())
    np.testing.assert_allclose(spent, energy, rtol=1e-4)
    np.testing.assert_allclose(reference.energy(signals), energy, rtol=1e-6)
