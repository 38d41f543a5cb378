"""The spread over seeds: a range where there are few, else a confidence interval of the mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.stats import t as student

FEW = 5
"""With fewer seeds the spread is their range: Student's interval would fill the axes."""


class Summary(NamedTuple):
    """Means over the seeds and their spread, NaN where there is none.

    Attributes
    ----------
    mean, low, high : DataArray
        Without the dimension ``seed``.
    """

    mean: xr.DataArray
    low: xr.DataArray
    high: xr.DataArray


def summarise(values: xr.DataArray) -> Summary:
    """Return the mean over the seeds and its spread, as :func:`words` describes it."""
    if "seed" not in values.dims:
        unknown = xr.full_like(values, np.nan, float)
        return Summary(values, unknown, unknown)
    count = values.notnull().sum("seed")
    several = count > 1
    mean = values.sum("seed", skipna=True) / count.where(count > 0)
    if values.sizes["seed"] < FEW:
        return Summary(mean, values.min("seed").where(several), values.max("seed").where(several))
    freedom = (count - 1).where(several)
    variance = ((values - mean) ** 2).sum("seed") / freedom
    half = xr.apply_ufunc(student.ppf, 0.975, freedom) * np.sqrt(variance / count)
    return Summary(mean, mean - half, mean + half)


def words(study: xr.Dataset) -> str:
    """Say what points and bars are, for a caption; empty for a single run."""
    seeds = study.sizes.get("seed", 1)
    if seeds == 1:
        return ""
    spread = "the range" if seeds < FEW else "the 95 % confidence interval (Student's t)"
    return f"mean and {spread} over {seeds} seeds"
