"""Entries of a vector on the resource grid, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phy import OfdmGrid, Packing
from phy.packing import packing_for

SMALL = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 1), dc_null=True)  # 5 carriers


def test_entries_go_to_i_and_q_unscaled_and_in_order():
    packed = Packing(SMALL, length=7, seed=None).pack(np.arange(1.0, 8.0))
    np.testing.assert_array_equal(packed, [[1 + 2j, 3 + 4j, 5 + 6j, 7, 0]])


@given(
    length=st.integers(1, 200),
    seed=st.none() | st.integers(0, 5),
    dtype=st.sampled_from([np.float32, np.float64]),
    leading=st.sampled_from([(), (3,), (2, 3)]),
)
def test_round_trip_is_exact_and_keeps_energy(length, seed, dtype, leading):
    packing = Packing(SMALL, length, seed)
    values = np.random.default_rng(length).standard_normal((*leading, length)).astype(dtype)
    packed = packing.pack(values)
    assert packed.shape == (*leading, SMALL.num_symbols(length), 5)
    np.testing.assert_array_equal(packing.unpack(packed), values.astype(np.float32))
    energy = np.square(np.abs(packed), dtype=np.float64).sum()
    np.testing.assert_allclose(energy, np.square(values.astype(np.float64)).sum(), rtol=1e-6)


def test_strided_vectors_are_packed_as_what_they_hold():
    packing = Packing(SMALL, length=6)
    values = np.arange(12, dtype=np.float32).reshape(6, 2).T
    np.testing.assert_array_equal(packing.unpack(packing.pack(values)), values)


def test_interleaver_spreads_neighbours_over_symbols_and_carriers():
    grid, length = OfdmGrid(), 7850
    loud = np.zeros(length, np.float32)
    loud[:800] = 1  # exactly one OFDM symbol's worth

    def share_of_busiest_symbol(seed):
        energy = np.square(np.abs(Packing(grid, length, seed).pack(loud))).sum(axis=-1)
        return energy.max() / energy.sum()

    assert share_of_busiest_symbol(None) == 1
    # hypergeometric: 400 of 4000 elements fall on 10 symbols, 40 +- 5.7 on each
    assert share_of_busiest_symbol(0) < (40 + 6 * 5.7) / 400
    carriers = np.flatnonzero(np.abs(Packing(grid, length, 0).pack(loud)).sum(axis=0))
    assert len(carriers) > 200


def test_the_same_seed_is_the_same_interleaver_and_another_is_not():
    values = np.arange(100.0)
    first, again, other = (Packing(SMALL, 100, seed).pack(values) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_negative_seed_is_refused():
    with pytest.raises(ValueError, match="interleaver_seed must be a whole number >= 0, got -1"):
        Packing(SMALL, 10, seed=-1)


def test_a_long_block_moves_eight_neighbours_together():
    grid = OfdmGrid(fft_size=512, guards=(0, 0), dc_null=False)
    short, long = (Packing(grid, 2 * 512 * symbols) for symbols in (256, 257))
    assert (short.num_elements, short.grain) == (131_072, 1)
    assert (long.num_elements, long.grain) == (131_584, 8)
    values = np.arange(2.0 * 512 * 257, dtype=np.float32)[:-3]
    packing = Packing(grid, len(values))
    packed = packing.pack(values)
    np.testing.assert_array_equal(packing.unpack(packed), values)
    grains = packed.reshape(-1, 8)
    # within a grain, elements are neighbours in the vector: entries 2n and 2n + 1, then 2n + 2 ...
    whole = grains[np.abs(grains).min(axis=1) > 0]
    assert len(whole) > 16_000
    np.testing.assert_array_equal(np.diff(whole.real, axis=1), 2)


def test_slots_are_repeated_for_their_symbols_and_a_static_channel_is_left_alone():
    grid = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 1), symbols_per_slot=3)
    packing = Packing(grid, length=2 * 5 * 4)  # four symbols: a slot of three and one of one
    per_slot = np.arange(2.0)[:, None] * np.ones(5)
    np.testing.assert_array_equal(packing.per_symbol(per_slot)[:, 0], [0, 0, 0, 1])
    np.testing.assert_array_equal(packing.per_symbol(per_slot[1:]), per_slot[1:])


def test_packings_come_from_a_cache():
    assert packing_for(SMALL, 30, 1) is packing_for(SMALL, 30, 1)
    assert packing_for(SMALL, 30, 1) is not packing_for(SMALL, 30, 2)
