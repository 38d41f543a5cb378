"""Carriers, symbols and slots of a block, and their times."""

from __future__ import annotations

import numpy as np
import pytest

from otafl._base import lazy
from phy import OfdmGrid


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
    assert [len(grid.slots(symbols)) for symbols in (1, 14, 15, 28)] == [1, 1, 2, 2]


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
    lazy.sionna()
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
        ({"fft_size": 0}, "fft_size must be a whole number >= 1, got 0"),
        ({"fft_size": 51.2}, r"fft_size must be a whole number >= 1, got 51\.2"),
        ({"cp_length": 513}, "cp_length must be at most fft_size = 512, got 513"),
        ({"cp_length": -1}, "cp_length must be a whole number >= 0, got -1"),
        ({"guards": (256, 256)}, r"guards must be left <= 256 and right < 256, .*got \(256, 256\)"),
        ({"guards": (300, 0)}, r"guards must be left <= 256 .*got \(300, 0\)"),
        (
            {"guards": (511, 1), "dc_null": False},
            r"guards must be .*leave no carrier of fft_size = 512, got \(511, 1\)",
        ),
        ({"guards": (-1, 0)}, r"guards\[0\] must be a whole number >= 0, got -1"),
        ({"guards": 7}, r"guards must be \(left, right\), got 7"),
        ({"dc_null": "no"}, "dc_null must be True or False, got 'no'"),
        ({"subcarrier_spacing": 0.0}, r"subcarrier_spacing must be a finite number > 0, got 0\.0"),
        ({"subcarrier_spacing": np.nan}, "subcarrier_spacing must be a finite number > 0, got nan"),
        ({"symbols_per_slot": 0}, "symbols_per_slot must be a whole number >= 1, got 0"),
        ({"pilots": -1}, "pilots must be a whole number >= 0, got -1"),
        ({"pilots": 400}, "pilots must be fewer than the 400 used carriers, .*got 400"),
    ],
)
def test_impossible_grids_are_refused_by_name_and_value(change, message):
    with pytest.raises(ValueError, match=message):
        OfdmGrid(**change)


def test_unknown_preset_and_empty_vector_are_refused():
    with pytest.raises(
        ValueError, match="subcarrier_spacing must be 15e3, 30e3 or 60e3, got 45000"
    ):
        OfdmGrid.nr(45e3)
    with pytest.raises(ValueError, match="length must be a whole number >= 1, got 0"):
        OfdmGrid().num_symbols(0)


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("fft_Size", "fft_size"), ("cp_lenght", "cp_length"), ("Pilots", "pilots")],
)
def test_a_misspelt_option_is_refused_with_the_nearest_name(misspelt, meant):
    with pytest.raises(TypeError, match=f"OfdmGrid has no option '{misspelt}'.*'{meant}'"):
        OfdmGrid(**{misspelt: 3})


def test_pilots_are_evenly_spread_and_taken_from_the_data():
    grid = OfdmGrid(fft_size=16, cp_length=4, guards=(2, 1), dc_null=True, pilots=3)
    assert grid.used_carriers.tolist() == [-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6]
    assert grid.used_carriers[grid.is_pilot].tolist() == [-4, 1, 5]
    assert grid.carriers.tolist() == [-6, -5, -3, -2, -1, 2, 3, 4, 6]
    assert grid.num_carriers == 9
    assert grid.without_pilots == OfdmGrid(fft_size=16, cp_length=4, guards=(2, 1), dc_null=True)
    assert grid.without_pilots.without_pilots is grid.without_pilots


def test_slots_of_a_block_and_its_short_last_slot():
    assert OfdmGrid().slots(30) == [slice(0, 14), slice(14, 28), slice(28, 30)]
    assert OfdmGrid().slots(14) == [slice(0, 14)]
    assert OfdmGrid().symbol_length == 576


def test_the_data_of_a_slot_begin_after_its_pilots():
    """In samples: symbols of 576, slots of 14 symbols."""
    grid = OfdmGrid()
    assert grid.slot_starts(3, pilot_symbols=0).tolist() == [0, 8064, 16128]
    assert grid.slot_starts(3, pilot_symbols=2).tolist() == [1152, 10368, 19584]


def test_a_moving_channel_is_looked_at_in_the_middle_of_the_data():
    grid = OfdmGrid()
    assert grid.slot_middles(28, pilot_symbols=0).tolist() == [4032, 12096]
    assert grid.slot_middles(30, pilot_symbols=0).tolist() == [4032, 12096, 16704]
    assert grid.slot_middles(30, pilot_symbols=2).tolist() == [5184, 14400, 20160]
    assert grid.slot_middles(1, pilot_symbols=0).tolist() == [288]
    assert grid.slot_middles(1, pilot_symbols=1).tolist() == [864]
