"""Our accuracies beside those that a paper reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import general, kinds, style
from figures.roles import Roles, assign, default_x, without_surplus


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has published accuracies beside its own."""
    return "published" in study and bool(study["published"].notnull().any())


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw our accuracies as lines, with those of the paper as open markers."""
    study = without_surplus(study, default_x(study), 3, on_note)
    roles = assign(study, None, ["accuracy"], None, None, None)
    figure = general.draw(study, roles, on_note=on_note, overlay=_paper)
    return style.describe(figure, f"{style.caption_of(figure)} Open markers: the paper.")


def _paper(axes: Axes, study: xr.Dataset, roles: Roles) -> None:
    published = study["published"]
    x = study[roles.x].values if published.sizes.get(roles.x) else [0]
    for _, look, chosen in kinds.looks(study, roles.hue):
        values = np.atleast_1d(published.sel(chosen).values)
        marks = look | {"linestyle": "none", "markerfacecolor": "white", "zorder": 5}
        marks["markersize"] = 1.6 * style.marker_size()
        axes.plot(x, values, **marks)
    open_marker: dict[str, Any] = {"linestyle": "none", "marker": "o", "markerfacecolor": "white"}
    axes.plot([], [], color=style.BLACK, label="paper", **open_marker)
