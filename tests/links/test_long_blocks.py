"""Blocks cut into tiles, and interleaved by grains: the same round as in one piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from links import OfdmLink
from phy import NoisyCsi, OfdmGrid, Packing, PerfectCsi, Rayleigh, Tdl, fused_medium, packing

# 16, 12, 10 and 11 carriers: grains of 8, 4, 2 and 1
GRIDS = [OfdmGrid(32, 32, (32 - used, 0), dc_null=False) for used in (16, 12, 10, 11)]


@pytest.fixture(params=[1, 40, 300])
def small_pieces(request, monkeypatch):
    """A cache so small that short blocks count as long."""
    monkeypatch.setattr(packing, "LONG_BLOCK", 50)
    monkeypatch.setattr(fused_medium, "PIECE", request.param)
    fused_medium.tiles_of.cache_clear()
    packing.packing_for.cache_clear()
    yield
    fused_medium.tiles_of.cache_clear()
    packing.packing_for.cache_clear()


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.num_carriers} carriers")
@pytest.mark.parametrize("length", [1, 99, 100, 101, 640, 1003])
@pytest.mark.parametrize("fading", [Rayleigh(), Tdl("A", speed=30.0)], ids=["static", "moving"])
@pytest.mark.parametrize("csi", [PerfectCsi(), NoisyCsi(0.1)], ids=["perfect", "noisy"])
def test_pieces_make_the_same_round(small_pieces, grid, length, fading, csi):
    """Against the plain formula, element by element."""
    rng = np.random.default_rng(length)
    link = OfdmLink(grid=grid, fading=fading, csi=csi, truncation=0.1, snr_db=np.inf)
    signals = rng.standard_normal((5, length)).astype(np.float32)
    uplink = link.open(5, length, rng)
    elements = uplink.medium.packing.pack(signals)
    one = uplink.medium.precoding
    arrival, cost = (uplink.medium.packing.per_symbol(values) for values in (one.arrival, one.cost))
    np.testing.assert_allclose(
        uplink.medium.superpose(signals)[0], (arrival * elements).sum(axis=0), atol=2e-5
    )
    energy = (cost * np.square(np.abs(elements))).sum(axis=-1)
    np.testing.assert_allclose(uplink.energy(signals), energy, rtol=1e-4, atol=1e-6)


@given(carriers=st.integers(1, 20), length=st.integers(1, 400), seed=st.none() | st.integers(0, 3))
def test_grains_are_packed_and_unpacked_exactly(carriers, length, seed):
    grid = OfdmGrid(carriers, 0, (0, 0), dc_null=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LONG_BLOCK", 1)
        grained = Packing(grid, length, seed)
    values = np.random.default_rng(length).standard_normal((2, length)).astype(np.float32)
    packed = grained.pack(values)
    np.testing.assert_array_equal(grained.unpack(packed), values)
    np.testing.assert_allclose(np.square(np.abs(packed)).sum(), np.square(values).sum(), rtol=1e-5)


def test_a_truly_long_block_on_both_engines(rng):
    length = 264_003  # 132 002 elements: grains of eight, three tiles
    signals = rng.standard_normal((2, length)).astype(np.float32)
    seed = int(rng.integers(2**32))
    ours, theirs = (
        OfdmLink(engine=engine, fading=Tdl("A", speed=3.0), snr_db=np.inf)
        .open(2, length, np.random.default_rng(seed))
        .medium.superpose(signals)[0]
        for engine in ("fast", "sionna")
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())
