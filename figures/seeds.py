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


def counts(study: xr.Dataset) -> tuple[int, int]:
    """Return how many seeds the point with fewest runs has, and that with most.

    Points without any run do not count.
    """
    if "seed" not in study["finished"].dims:
        return 1, 1
    done = study["finished"].sum("seed").values
    done = done[done > 0]
    return (int(done.min()), int(done.max())) if done.size else (0, 0)


def summarise(values: xr.DataArray, few: bool) -> Summary:
    """Return the mean over the seeds and its spread.

    Parameters
    ----------
    values : DataArray
        With or without a dimension ``seed``.
    few : bool
        Whether the spread is the range of the seeds instead of the 95 % confidence interval of
        their mean by Student's t; one rule for a whole figure.
    """
    if "seed" not in values.dims:
        unknown = xr.full_like(values, np.nan, float)
        return Summary(values, unknown, unknown)
    count = values.notnull().sum("seed")
    several = count > 1
    mean = values.sum("seed", skipna=True) / count.where(count > 0)
    if few:
        return Summary(mean, values.min("seed").where(several), values.max("seed").where(several))
    freedom = (count - 1).where(several)
    variance = ((values - mean) ** 2).sum("seed") / freedom
    half = xr.apply_ufunc(student.ppf, 0.975, freedom) * np.sqrt(variance / count)
    return Summary(mean, mean - half, mean + half)


def words(study: xr.Dataset, kind: str = "line") -> str:
    """Say what a figure of a kind shows of the seeds, for a caption; empty for single runs."""
    least, most = counts(study)
    if most <= 1:
        return ""
    number = f"{most} seeds" if least == most else f"{least} to {most} seeds"
    if kind == "box":
        return f"quartiles and range over {number}"
    if kind == "heatmap":
        return f"mean over {number}"
    spread = "range" if least < FEW else "95 % confidence interval (Student's t)"
    return f"mean and {spread} over {number}"
