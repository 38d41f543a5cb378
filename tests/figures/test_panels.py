"""Panels of a study."""

from __future__ import annotations

from figures import panels
from figures.roles import Roles


def test_a_panel_for_every_value_of_rows_and_columns(sweep):
    roles = Roles("round", ("accuracy",), "algorithm", "snr_db", "truncation")
    _, grid = panels.make(sweep, roles)
    assert grid.shape == (2, 3)
    assert [axes.get_title() for axes in grid[0]] == ["SNR = 10 dB", "SNR = 20 dB", "SNR = 30 dB"]
    places = [place for _, place, _ in panels.each(grid, sweep, roles)]
    assert places[4] == {"truncation": 0.1, "snr_db": 20.0}
    (axes, _, part), *_ = panels.each(grid, sweep, roles)
    assert axes is grid[0, 0]
    assert set(part["finished"].dims) == {"algorithm", "seed"}


def test_a_single_panel_has_no_heading(sweep):
    _, grid = panels.make(sweep, Roles("snr_db", ("accuracy",), "algorithm", None, None))
    assert grid.shape == (1, 1)
    assert grid[0, 0].get_title() == ""
