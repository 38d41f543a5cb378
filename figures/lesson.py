"""Measurements against theory: markers are measured, lines are theory, as in the notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from figures import style
from otafl._base.arrays import FloatArray
from otafl._base.decibels import to_db

SIGMAS = 5.0  # of the error bars: what verify allows
POINTS = 120  # of a line


def compare(
    axes: Axes,
    x: ArrayLike,
    measured: Iterable[ArrayLike] | None,
    theory: Callable[[float], float] | ArrayLike | None = None,
    *,
    label: str | None = None,
    place: int = 0,
    db: bool = False,
    fine: ArrayLike | None = None,
    **marks: Any,
) -> None:
    """Draw what was measured as markers, and theory as a line of the same colour.

    Parameters
    ----------
    axes : Axes
        Set its scale first: a line has its points where they look evenly spaced.
    x : array_like, shape [n]
        Where it was measured.
    measured : iterable of n values, or of n arrays of independent samples, or None
        Of samples the mean is drawn, with bars of five standard errors, which often hide behind
        the markers.
    theory : callable, or array_like of values at ``fine`` or at ``x``, optional
        A function is called with one value of x at a time.
    label : str, optional
        In the legend.
    place : int
        Number of the pair: it chooses colour, marker and dashes.
    db : bool
        Whether to draw 10 log10 of all values.
    fine : array_like, optional
        Where theory is drawn, by default in the range of ``x``.
    **marks
        Options of the markers, such as ``fillstyle="none"``.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> axes = plt.figure().add_subplot(xscale="log")
    >>> draws = np.random.default_rng(0).standard_exponential(1000)
    >>> levels = [0.1, 1.0, 3.0]
    >>> compare(axes, levels, exceedance(draws, levels), lambda x: np.exp(-x), label="Rayleigh")
    """
    look = style.look(label, place)
    colour = look["color"]
    x = np.asarray(x, float)
    shown = to_db if db else np.asarray
    if theory is not None:
        values: NDArray
        if callable(theory):
            dense = _dense(axes, x) if fine is None else np.asarray(fine, float)
            values = np.array([theory(each) for each in dense], float)
        else:
            dense, values = np.asarray(x if fine is None else fine), np.asarray(theory, float)
        only = label if measured is None else None
        axes.plot(dense, shown(values), color=colour, linestyle=look["linestyle"], label=only)
    if measured is None:
        return
    samples = [np.asarray(each, float).reshape(-1) for each in measured]
    mean = np.array([each.mean() for each in samples])
    axes.plot(x, shown(mean), look["marker"], color=colour, label=label, **marks)
    if all(each.size > 1 for each in samples):
        bar = SIGMAS * np.array([each.std(ddof=1) / np.sqrt(each.size) for each in samples])
        low = np.maximum(mean - bar, 1e-3 * np.abs(mean)) if db else mean - bar
        axes.vlines(x, shown(low), shown(mean + bar), color=colour, linewidth=0.8)


def compare_each(
    axes: Axes,
    x: ArrayLike,
    measured: Mapping[Any, Iterable[ArrayLike]],
    theory: Callable[[float, Any], float] | Mapping[Any, ArrayLike] | None = None,
    *,
    label: str = "{}",
    first: int = 0,
    **options: Any,
) -> None:
    """Draw a family of measurements and theory, one :func:`compare` for each key.

    Parameters
    ----------
    axes, x
        As in :func:`compare`.
    measured : mapping
        What was measured, by key, such as the value of a second parameter.
    theory : callable or mapping, optional
        A function of x and the key, or values by key.
    label : str
        Format of the key in the legend.
    first : int
        ``place`` of the first pair.
    **options
        Further options of :func:`compare`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> axes = plt.figure().add_subplot()
    >>> powers = {2: [1.0, 4.0], 3: [1.0, 8.0]}
    >>> compare_each(axes, [1, 2], powers, lambda x, n: x**n, label="$x^{}$")
    """
    for place, (key, samples) in enumerate(measured.items(), first):
        law: Any = theory
        if callable(theory):
            law = partial(_at_key, theory, key)
        elif theory is not None:
            law = theory[key]
        compare(axes, x, samples, law, label=label.format(key), place=place, **options)


def _at_key(theory: Callable[[float, Any], float], key: Any, x: float) -> float:
    return theory(x, key)


def exceedance(samples: ArrayLike, levels: ArrayLike) -> FloatArray:
    """Return the fraction of samples above each level; NaN, which is not drawn, where none is.

    >>> exceedance([1.0, 2.0, 3.0, 4.0], [2.5, 9.0])
    array([0.5, nan])
    """
    values = np.asarray(samples, float).reshape(-1)
    above = np.array([(values > level).mean() for level in np.asarray(levels, float)])
    return np.where(above > 0, above, np.nan)


def _dense(axes: Axes, x: FloatArray) -> FloatArray:
    spaced = np.geomspace if axes.get_xscale() == "log" else np.linspace
    return spaced(x.min(), x.max(), POINTS)
