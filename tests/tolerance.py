"""How far a sample may stray from theory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def check_mean(samples: ArrayLike, expected: float, sigmas: float = 5.0) -> None:
    """The mean of independent ``samples`` is within so many of its standard errors."""
    values = np.asarray(samples, np.float64)
    error = values.std(ddof=1) / np.sqrt(values.size)
    assert abs(values.mean() - expected) <= sigmas * error, (
        f"mean {values.mean():.6g} is {abs(values.mean() - expected) / error:.1f} standard errors "
        f"from {expected:.6g}"
    )


def check_proportion(hits: ArrayLike, expected: float, sigmas: float = 5.0) -> None:
    """The share of independent ``hits`` is within so many standard deviations of its binomial."""
    values = np.asarray(hits, bool)
    error = np.sqrt(expected * (1 - expected) / values.size)
    assert abs(values.mean() - expected) <= sigmas * error, (
        f"share {values.mean():.6g} is not {expected:.6g} +- {error:.2g}"
    )
