"""Blocks cut into tiles, and interleaved by grains: the same round as in one piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from links import OfdmLink
from phy import NoisyCsi, OfdmGrid, Packing, PerfectCsi, Rayleigh, Tdl, packing, uplink

# 16, 12, 10 and 11 carriers: grains of 8, 4, 2 and 1
GRIDS = [OfdmGrid(32, 32, (32 - used, 0), dc_null=False) for used in (16, 12, 10, 11)]


@pytest.fixture(params=[1, 40, 300])
def small_pieces(request, monkeypatch):
    """A cache so small that short blocks count as long."""
    monkeypatch.setattr(packing, "LONG_BLOCK", 50)
    monkeypatch.setattr(uplink, "PIECE", request.param)
    uplink.tiles_of.cache_clear()
    packing.packing_for.cache_clear()
    yield
    uplink.tiles_of.cache_clear()
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
    slot = link.open(5, length, rng)
    elements = slot.packing.pack(signals)
    one = slot.precodings[0]
    weight, cost = (slot.packing.per_symbol(values) for values in (one.weight, one.cost))
    np.testing.assert_allclose(
        slot.superposition(signals), (weight * elements).sum(axis=0), atol=2e-5
    )
    energy = (cost * np.square(np.abs(elements))).sum(axis=-1)
    np.testing.assert_allclose(slot.energy(signals), energy, rtol=1e-4, atol=1e-6)


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
        .superposition(signals)
        for engine in ("fast", "sionna")
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())


def test_order_and_type_of_the_signals_do_not_matter(rng):
    signals = rng.standard_normal((3, 1000)).astype(np.float32)
    slot = OfdmLink(snr_db=np.inf).open(3, 1000, rng)
    expected = slot.send(signals, 1e-6).total
    strided = np.repeat(signals, 2, axis=1)[:, ::2]
    for same in (np.asfortranarray(signals), strided, signals.astype(np.float64)):
        np.testing.assert_array_equal(slot.send(same, 1e-6).total.astype(np.float32), expected)
