"""What the axes of a figure show: metrics in the units of figures, and swept keys.

The table of metrics says what stands for all rounds and all clients of a run
(:class:`fl.metrics.Metric`), and the table of labels how a key is named
(:mod:`scenarios.config.labels`).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from figures import style
from fl.metrics import Metric
from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.labels import Label, label_of, plain
from scenarios.config.sweep import short_name
from scenarios.study.results import INNER, VARIABLES

ROUND = "round"
WORDS = {"True": "yes", "False": "no", "none": "none"}
"""Values that say nothing without their key."""
LONGEST = 32  # letters of a name


def metric_of(study: xr.Dataset, name: str) -> Metric:
    """Return the metric of a name, if the study has values of it."""
    names = [str(each) for each in study.data_vars if each in VARIABLES and each != "finished"]
    if name not in names:
        hint = did_you_mean(name, names)
        raise OptionError("y", f"a metric of the study: {', '.join(sorted(names))}", name, hint)
    return VARIABLES[name]


def metric_values(study: xr.Dataset, name: str, keep: Collection[str] = ()) -> xr.DataArray:
    """Return a metric in the unit of figures, over the sweep and the dimensions to keep.

    Runs that diverged are left out, and zeros where the unit is dB.
    """
    metric, values = metric_of(study, name), study[name]
    if name != "diverged":
        values = values.where(study["diverged"] == 0)
    for dim in ("client", "symbol"):
        if dim in values.dims and dim not in keep:
            values = _reduce(values, dim, metric.over_clients)
    if ROUND in values.dims and ROUND not in keep:
        values = _reduce(values, ROUND, metric.over_rounds)
    if metric.shown_in == "dB":
        values = 10 * xr.apply_ufunc(np.log10, values.where(values > 0))
    return 100 * values if metric.shown_in == "%" else values


def unit_of(metric: Metric) -> str:
    """Return the unit in which figures show a metric."""
    return metric.shown_in or metric.unit


def metric_label(metric: Metric, over_rounds: bool) -> str:
    """Return the label of an axis.

    Parameters
    ----------
    metric : Metric
        What the axis shows.
    over_rounds : bool
        Whether one value stands for all rounds, which the label then says.
    """
    text, unit = metric.label, unit_of(metric)
    if metric.over_clients == "sum":
        text = f"{text}, all clients"
    elif metric.over_clients == "max":
        text = f"{text} of all {metric.dims[1]}s"
        text = text if over_rounds and metric.over_rounds == "max" else f"largest {text}"
    if over_rounds and ROUND in metric.dims and metric.over_rounds != "last":
        text = f"{'largest' if metric.over_rounds == 'max' else metric.over_rounds} {text}"
    return f"{text} [{unit}]" if unit else text


def find_dim(study: xr.Dataset, role: str, name: str, among: Collection[str]) -> str:
    """Return the dimension that a user means by its short name or its key.

    Parameters
    ----------
    study : Dataset
    role : str
        The option that names it, for the message.
    name : str
        Such as ``snr_db`` or ``link.snr_db``.
    among : collection of str
        The dimensions to choose from.
    """
    keys = {dim: key_of(study, dim) for dim in among}
    for dim, key in keys.items():
        if name in (dim, key):
            return dim
    if name == "seed" and role != "where":
        must = "a key other than seed: figures show the spread over the seeds; choose where seed=0"
        raise OptionError(role, must, name)
    hint = did_you_mean(name, [*keys, *keys.values()])
    swept = ", ".join(sorted(keys.values())) or "none"
    raise OptionError(role, f"a key that the study sweeps ({swept})", name, hint)


def key_of(study: xr.Dataset, dim: str) -> str:
    """Return the dotted key of a dimension of the sweep."""
    return str(study[dim].attrs.get("key", dim)) if dim in study.coords else dim


def label_of_dim(study: xr.Dataset, dim: str) -> Label:
    """Return how a dimension is named."""
    return Label(INNER[dim]) if dim in INNER else label_of(short_name(key_of(study, dim)))


def value_label(study: xr.Dataset, dim: str, value: object, alone: bool = False) -> str:
    """Return a value as in a legend or above a panel.

    Parameters
    ----------
    study : Dataset
    dim : str
        The dimension.
    value : object
        One of its values; numbers stand beside their symbol, names alone.
    alone : bool
        Leave symbol and unit out: a heading has them.
    """
    bare = value.item() if isinstance(value, np.generic) else value
    label = label_of_dim(study, dim)
    if isinstance(bare, str):
        if bare in WORDS:
            return WORDS[bare] if alone else f"{label.symbol or label.text}: {WORDS[bare]}"
        words = shortened(style.NAMES.get(bare, bare.replace("_", " ")))
        beside = label.symbol and "$" not in label.symbol and not alone
        return f"{label.symbol} {words}" if beside else words
    return plain(bare) if alone else label.value(bare)


def shortened(name: str) -> str:
    """Return a name with its middle left out, if it is long.

    >>> shortened("a name that no legend has room for, ever")
    'a name that no legend…for, ever'
    """
    return name if len(name) <= LONGEST else f"{name[:21].rstrip()}…{name[-10:].lstrip()}"


def is_numeric(study: xr.Dataset, dim: str) -> bool:
    """Return whether the values of a dimension can be placed on an axis."""
    values = study[dim].values
    return values.dtype.kind in "fiu" and bool(np.isfinite(values).all())


def _reduce(values: xr.DataArray, dim: str, how: str) -> xr.DataArray:
    if how == "last":
        return xr.apply_ufunc(_last, values, input_core_dims=[[dim]])
    if how == "sum":
        return values.sum(dim, min_count=1)
    return getattr(values, how)(dim)


def _last(values: NDArray) -> NDArray:
    """Return the last value along the last axis that is not NaN."""
    known = ~np.isnan(values)
    place = values.shape[-1] - 1 - np.argmax(known[..., ::-1], axis=-1)
    return np.take_along_axis(values, place[..., None], axis=-1)[..., 0]
