"""The fused medium against an explicit sum over clients in float64."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid, Packing
from phy import fused_medium as module
from phy.fused_medium import FusedMedium, tiles_of
from phy.power import UNIT_SCALE, Precoding

GRID = OfdmGrid(fft_size=16, cp_length=4, guards=(2, 1), dc_null=True, symbols_per_slot=3)  # 12


@pytest.fixture
def small_pieces(monkeypatch):
    """Tiles and groups of any size, without those of other tests in the cache."""

    def set_piece(elements):
        monkeypatch.setattr(module, "PIECE", elements)
        tiles_of.cache_clear()

    yield set_piece
    tiles_of.cache_clear()


def precoding_of(kind, num_clients, num_slots, rng, num_carriers=GRID.num_carriers):
    """Random factors of one kind, with a tenth of the carriers silent."""
    shape = (num_clients, num_slots, num_carriers)
    active = rng.random(shape) > 0.1
    cost = (rng.exponential(1.0, shape) * active).astype(np.float32)
    arrival = {
        "bool": lambda: active,
        "real": lambda: (rng.random(shape) * active).astype(np.float32),
        "complex": lambda: (
            (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * active
        ).astype(np.complex64),
    }[kind]()
    return Precoding(cost, arrival, UNIT_SCALE, active)


def explicit(packing, precoding, signals):
    """By loops over clients, symbols and carriers, straight from the vector's entries."""
    num_symbols, num_carriers = packing.num_symbols, packing.grid.num_carriers
    received = np.zeros((num_symbols, num_carriers), complex)
    energy = np.zeros((len(signals), num_symbols))
    moving = precoding.cost.shape[1] > 1
    for i, signal in enumerate(signals.astype(np.float64)):
        entries = np.zeros(2 * packing.num_elements)
        entries[: len(signal)] = signal
        for place in range(packing.num_elements):
            grain, within = divmod(place, packing.grain)
            element = packing.source[grain] * packing.grain + within
            value = complex(entries[2 * element], entries[2 * element + 1])
            symbol, carrier = divmod(place, num_carriers)
            slot = symbol // packing.grid.symbols_per_slot if moving else 0
            received[symbol, carrier] += complex(precoding.arrival[i, slot, carrier]) * value
            energy[i, symbol] += precoding.cost[i, slot, carrier] * abs(value) ** 2
    return received, energy


@pytest.mark.parametrize("kind", ["bool", "real", "complex"])
@pytest.mark.parametrize("moving", [False, True], ids=["static", "moving"])
@pytest.mark.parametrize("length", [1, 23, 24, 25, 7 * 24 - 1, 9 * 24, 10 * 24 + 3])
@pytest.mark.parametrize("piece", [1, 40, 200, 1 << 16])
def test_a_round_is_the_explicit_sum(kind, moving, length, piece, small_pieces, rng):
    """A piece of 1 is a symbol or slot and a client at a time; 200 groups clients of short blocks.

    A moving channel of one slot is the static one.
    """
    small_pieces(piece)
    packing = Packing(GRID, length)
    num_clients = 5
    num_slots = len(packing.grid.slots(packing.num_symbols)) if moving else 1
    precoding = precoding_of(kind, num_clients, num_slots, rng)
    signals = rng.standard_normal((num_clients, length)).astype(np.float32)
    medium = FusedMedium(packing, precoding)
    received, energy = medium.superpose(signals)
    sums, spent = explicit(packing, precoding, signals)
    np.testing.assert_allclose(received, sums, atol=2e-5)
    np.testing.assert_allclose(energy, spent, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(medium.energy(signals), energy)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strided_vectors_and_the_medium_used_again(dtype, rng):
    packing = Packing(GRID, 50)
    medium = FusedMedium(packing, precoding_of("complex", 3, 1, rng))
    for _ in range(2):
        signals = rng.standard_normal((50, 3)).astype(dtype).T
        received, energy = medium.superpose(signals)
        sums, spent = explicit(packing, medium.precoding, signals)
        np.testing.assert_allclose(received, sums, atol=2e-5)
        np.testing.assert_allclose(energy, spent, rtol=1e-4, atol=1e-6)


def test_grains_of_a_long_block(monkeypatch, small_pieces, rng):
    """Blocks beyond a cache move eight neighbours together, here forced on a short one."""
    monkeypatch.setattr("phy.packing.LONG_BLOCK", 10)
    grid = OfdmGrid(fft_size=16, cp_length=4, guards=(0, 0), dc_null=False, symbols_per_slot=3)
    small_pieces(100)
    for num_slots in (1, 3):
        packing = Packing(grid, 2 * 16 * 7 - 5)
        assert packing.grain == 8
        precoding = precoding_of("complex", 3, num_slots, rng, num_carriers=16)
        signals = rng.standard_normal((3, packing.length)).astype(np.float32)
        received, energy = FusedMedium(packing, precoding).superpose(signals)
        sums, spent = explicit(packing, precoding, signals)
        np.testing.assert_allclose(received, sums, atol=2e-5)
        np.testing.assert_allclose(energy, spent, rtol=1e-4, atol=1e-6)


def test_tiles_cover_a_block_once_in_whole_slots(small_pieces):
    small_pieces(80)  # two slots of three symbols of 12 carriers
    packing = Packing(GRID, 2 * 12 * 10)  # ten symbols: slots of 3, 3, 3 and 1
    static, moving = tiles_of(packing, moving=False), tiles_of(packing, moving=True)
    assert [tile.symbols for tile in static] == [slice(0, 6), slice(6, 10)]
    assert [tile.slots for tile in static] == [slice(0, 1)] * 2
    assert [tile.symbols for tile in moving] == [slice(0, 6), slice(6, 10)]
    assert [tile.slots for tile in moving] == [slice(0, 2), slice(2, 4)]
    assert [tile.shape for tile in moving] == [(2, 3, 24), (2, 3, 24)]
    assert len(moving[-1].source) == 6 * 12


def test_groups_and_tiles_by_the_size_of_a_piece(small_pieces, rng):
    packing = Packing(GRID, 48)  # two symbols, 24 elements
    for piece, group, tiles in ((1, 1, 2), (24, 1, 1), (50, 2, 1), (1000, 4, 1)):
        small_pieces(piece)
        medium = FusedMedium(packing, precoding_of("bool", 4, 1, rng))
        assert (medium.group_size, len(medium.tiles)) == (group, tiles)
