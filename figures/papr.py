"""Peak-to-average power ratio of the clients' OFDM symbols, beside theory."""

from __future__ import annotations

from collections.abc import Callable

import xarray as xr
from matplotlib.figure import Figure

from figures import facets, kinds, style
from figures.link_pictures import draw_papr, theory_papr
from figures.quantities import value_label
from figures.roles import swept


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return "papr_db" in study and bool(_unimpaired(study)["papr_db"].notnull().any())


def _unimpaired(study: xr.Dataset) -> xr.Dataset:
    """Return the runs at the first value of an impairment, which changes what is learnt."""
    impairment = study.attrs["impairment"]
    return study.isel({impairment: 0}) if impairment in study.dims else study


def draw(study: xr.Dataset, on_note: Callable[[str], object] = print) -> Figure:
    """Draw the fraction of symbols with a larger PAPR, over all runs and rounds."""
    study = _unimpaired(study)
    figure, axes = style.subplots(1, 1, style.COLUMN_WIDTH, 2.6)
    dim = "algorithm" if "algorithm" in swept(study) else None
    for label, look, chosen in kinds.looks(study, dim):
        draw_papr(axes[0, 0], study["papr_db"].sel(chosen).values, label or "measured", look)
    theory_papr(axes[0, 0], study.attrs["carriers"])
    facets.legend(figure, axes)
    facets.fit(figure)
    caption = "fraction of OFDM symbols with a larger PAPR, over all runs and rounds"
    impairment = study.attrs["impairment"]
    if impairment in study.coords:
        caption += f" with {value_label(study, impairment, study[impairment].item())}"
    return style.describe(figure, f"{study.attrs['title']}: {caption}.")
