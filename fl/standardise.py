"""Inputs of zero mean and unit standard deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.data import Dataset
from otafl._base.names import check_names
from otafl._base.validation import OptionError

CHANNEL_AXES = 3
"""Axes of a sample (height, width, channel) that is standardised channel by channel."""


@check_names
def standardise(
    data: Dataset, *, mean: ArrayLike | None = None, deviation: ArrayLike | None = None
) -> Dataset:
    """Return a dataset whose samples are (x - mean) / deviation.

    Parameters
    ----------
    data : Dataset
        Samples; bytes are read as x / 255 first.
    mean, deviation : float or array_like, [channels], optional
        A scalar, or one value per channel, the last axis of a sample; the deviation must be > 0.
        One that is not given is measured on the training samples: over all values, or for each
        channel if samples have the shape [height, width, channels].

    Returns
    -------
    Dataset
        With samples in float32.

    Raises
    ------
    ValueError
        If a value is not finite, if there is not one per channel, or if a deviation is not > 0.

    Examples
    --------
    >>> from fl import load_dataset
    >>> digits = standardise(load_dataset("mnist"), mean=0.1307, deviation=0.3081)
    >>> print(f"{digits.x_train.min():.4f} {digits.x_train.max():.4f}")
    -0.4242 2.8215
    """
    x_train = _numbers(data.x_train)
    measured = _measured(x_train) if mean is None or deviation is None else (0.0, 1.0)
    shift = _values("mean", measured[0] if mean is None else mean, data)
    scale = _values("deviation", measured[1] if deviation is None else deviation, data)
    if (scale <= 0).any():
        if deviation is not None:
            raise OptionError("deviation", "> 0", deviation)
        raise OptionError("deviation", "> 0", float(scale.min()), " in the training samples")
    x_train, x_test = ((x - shift) / scale for x in (x_train, _numbers(data.x_test)))
    return Dataset(x_train, data.y_train, x_test, data.y_test)


def _numbers(x: NDArray) -> NDArray[np.float32]:
    """Return a copy of samples in float32, bytes as x / 255."""
    numbers = x.astype(np.float32)
    if x.dtype == np.uint8:
        numbers /= np.float32(255)
    return numbers


def _measured(x: NDArray) -> tuple[Any, Any]:
    """Return mean and deviation of samples, overall or for each channel."""
    axes = tuple(range(x.ndim - 1)) if x.ndim == 1 + CHANNEL_AXES else None
    return x.mean(axes, np.float64), x.std(axes, np.float64)


def _values(name: str, given: ArrayLike, data: Dataset) -> NDArray[np.float32]:
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise OptionError(name, "a number, or one per channel", given) from None
    channels = data.sample_shape[-1:]
    if values.shape not in ((), channels) or not np.isfinite(values).all():
        must = "a finite number" + (f", or one for each of {channels[0]} channels" * bool(channels))
        raise OptionError(name, must, given)
    return values.astype(np.float32)
