from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phy import OfdmGrid, Packing

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
    burst = np.zeros(length, np.float32)
    burst[:800] = 1  # exactly one OFDM symbol's worth

    def share_of_busiest_symbol(seed):
        energy = np.square(np.abs(Packing(grid, length, seed).pack(burst))).sum(axis=-1)
        return energy.max() / energy.sum()

    assert share_of_busiest_symbol(None) == 1
    # hypergeometric: 400 of 4000 elements fall on 10 symbols, 40 +- 5.7 on each
    assert share_of_busiest_symbol(0) < (40 + 6 * 5.7) / 400
    carriers = np.flatnonzero(np.abs(Packing(grid, length, 0).pack(burst)).sum(axis=0))
    assert len(carriers) > 200


def test_the_same_seed_is_the_same_interleaver_and_another_is_not():
    values = np.arange(100.0)
    first, again, other = (Packing(SMALL, 100, seed).pack(values) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_negative_seed_is_refused():
    with pytest.raises(ValueError, match="interleaver_seed = -1"):
        Packing(SMALL, 10, seed=-1)
