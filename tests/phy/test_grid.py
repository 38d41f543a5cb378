from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid, quiet


def test_default_grid_uses_400_of_512_carriers_around_an_empty_dc():
    grid = OfdmGrid()
    assert grid.num_carriers == 400
    assert 0 not in grid.carriers
    assert (grid.carriers[0], grid.carriers[-1]) == (-200, 200)
    assert grid.sampling_rate == 15.36e6
    assert grid.symbol_duration == pytest.approx(37.5e-6)
    assert grid.slot_duration == pytest.approx(525e-6)
    assert grid.cp_duration == pytest.approx(64 / 15.36e6)


@pytest.mark.parametrize(
    ("length", "symbols"), [(1, 1), (799, 1), (800, 1), (801, 2), (7850, 10), (1_000_000, 1250)]
)
def test_two_entries_fit_on_a_carrier(length, symbols):
    assert OfdmGrid().num_symbols(length) == symbols


def test_slots_are_counted_up():
    grid = OfdmGrid()
    assert [grid.num_slots(800 * symbols) for symbols in (1, 14, 15, 28)] == [1, 1, 2, 2]


@pytest.mark.parametrize("spacing", [15e3, 30e3, 60e3])
def test_presets_share_a_sampling_rate_and_the_normal_prefix(spacing):
    grid = OfdmGrid.nr(spacing)
    assert grid.sampling_rate == 30.72e6
    assert grid.cp_length / grid.fft_size == 144 / 2048
    assert grid.num_carriers * spacing <= 20e6


@pytest.mark.parametrize(
    "grid",
    [
        OfdmGrid(),
        OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5), dc_null=True),
        OfdmGrid(fft_size=63, cp_length=4, guards=(2, 3), dc_null=True),
        OfdmGrid(fft_size=16, cp_length=16, guards=(0, 0), dc_null=False),
        OfdmGrid.nr(60e3),
    ],
)
def test_carriers_are_those_of_sionna(grid):
    quiet.sionna()
    from sionna.phy.channel import subcarrier_frequencies
    from sionna.phy.ofdm import ResourceGrid

    theirs = ResourceGrid(
        num_ofdm_symbols=1,
        fft_size=grid.fft_size,
        subcarrier_spacing=grid.subcarrier_spacing,
        cyclic_prefix_length=grid.cp_length,
        num_guard_carriers=grid.guards,
        dc_null=grid.dc_null,
    )
    frequencies = subcarrier_frequencies(grid.fft_size, grid.subcarrier_spacing).numpy()
    used = frequencies[np.asarray(theirs.effective_subcarrier_ind)]
    np.testing.assert_allclose(grid.frequencies, used, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fft_size": 0}, "fft_size = 0"),
        ({"fft_size": 51.2}, r"fft_size = 51\.2"),
        ({"cp_length": 513}, "cp_length = 513"),
        ({"cp_length": -1}, "cp_length = -1"),
        ({"guards": (256, 256)}, r"guards = \(256, 256\)"),
        ({"guards": (300, 0)}, r"guards = \(300, 0\)"),
        ({"guards": (511, 1), "dc_null": False}, "leave no carrier"),
        ({"guards": (-1, 0)}, r"guards\[0\] = -1"),
        ({"guards": 7}, "guards = 7"),
        ({"dc_null": "no"}, "dc_null = 'no'"),
        ({"subcarrier_spacing": 0.0}, r"subcarrier_spacing = 0\.0"),
        ({"subcarrier_spacing": np.nan}, "subcarrier_spacing = nan"),
        ({"symbols_per_slot": 0}, "symbols_per_slot = 0"),
    ],
)
def test_impossible_grids_are_refused_by_name_and_value(change, message):
    with pytest.raises(ValueError, match=message):
        OfdmGrid(**change)


def test_unknown_preset_and_empty_vector_are_refused():
    with pytest.raises(ValueError, match="subcarrier_spacing"):
        OfdmGrid.nr(45e3)
    with pytest.raises(ValueError, match="length = 0"):
        OfdmGrid().num_symbols(0)
