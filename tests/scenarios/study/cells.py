"""Finished cells, compared bit by bit."""

from __future__ import annotations

from pathlib import Path

from scenarios.study.cellfile import CellFile


def cells_of(folder):
    return [CellFile.read(path) for path in sorted((Path(folder) / "cells").glob("*.nc"))]


def check_same(one, other):
    """Bit by bit."""
    cells, others = cells_of(one), cells_of(other)
    assert len(cells) == len(others) > 0
    for mine, theirs in zip(cells, others, strict=True):
        assert mine.settings == theirs.settings
        assert mine.variables.keys() == theirs.variables.keys()
        for name, (dims, values) in mine.variables.items():
            assert theirs.variables[name][0] == dims
            assert theirs.variables[name][1].dtype == values.dtype
            assert theirs.variables[name][1].tobytes() == values.tobytes(), name
