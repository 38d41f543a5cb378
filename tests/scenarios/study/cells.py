"""Finished cells, by their number in the sweep, and compared bit by bit."""

from __future__ import annotations

from pathlib import Path

from scenarios.study.cellfile import CellFile
from scenarios.study.folder import Folder
from scenarios.study.index import Index


def path_of(folder, number):
    """Return the file of a cell by its number in the sweep."""
    index = Index.read(Path(folder))
    return Folder(Path(folder)).cell_file(index.digests[index.sweep.places[number]])


def cell_of(folder, number):
    return CellFile.read(path_of(folder, number))


def cells_of(folder):
    """Return all cells in the order of the sweep."""
    return [cell_of(folder, number) for number in range(Index.read(Path(folder)).sweep.size)]


def missing(folder):
    """Return the numbers of the cells that are not finished."""
    index, study = Index.read(Path(folder)), Folder(Path(folder))
    digests = [index.digests[place] for place in index.sweep.places]
    return [number for number, digest in enumerate(digests) if study.read_cell(digest) is None]


def start_study(scenario, folder):
    """Begin a study without running anything."""
    study = Folder(Path(folder))
    with study.locked():
        study.store(study.with_cells_of(scenario))
    return study


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
