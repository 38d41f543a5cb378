"""The panels of a study: one for every value of the keys that rows and columns stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import facets
from figures.quantities import value_label
from figures.roles import Roles


def make(study: xr.Dataset, roles: Roles, **options: Any) -> tuple[Figure, NDArray]:
    """Make the panels, with their headings; options as in :func:`figures.facets.make`."""
    return facets.make(headings(study, roles.row), headings(study, roles.col), **options)


def headings(study: xr.Dataset, dim: str | None) -> list[str]:
    """Return the heading of each value of a dimension; a single empty one for none."""
    return [""] if dim is None else [value_label(study, dim, each) for each in study[dim].values]


def each(panels: NDArray, study: xr.Dataset, roles: Roles) -> Iterator[tuple[Axes, dict, Any]]:
    """Yield each panel, what it shows of the keys of rows and columns, and its data."""
    for (down, across), axes in np.ndenumerate(panels):
        pairs = ((roles.row, down), (roles.col, across))
        place = {dim: study[dim].values[at] for dim, at in pairs if dim is not None}
        yield axes, place, study.sel(place)
