"""What the figures of sweeps share: which dimension goes where, means and their confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import t as student

from figures import style

WITHIN_A_RUN = ("round", "client", "symbol")
MOST_PANELS = 20
LABELS = {
    "snr_db": "SNR [dB]",
    "entry_snr_db": "SNR of an entry [dB]",
    "csi_snr_db": "pilot SNR [dB]",
    "csi_variance": "error variance of the channel estimate",
    "fading_speed": "speed [m/s]",
    "carrier_offset_std": "carrier offset, std [spacings]",
    "timing_offset_std": "timing offset, std [samples]",
    "phase_noise_linewidth": "linewidth [Hz]",
    "rapp_backoff_db": "backoff of the amplifier [dB]",
    "adc_bits": "bits of the converter",
    "grid_symbols_per_slot": "OFDM symbols between synchronisations",
    "transmit": "the clients' hardware",
    "fading_k_factor": "Rician K factor",
    "fading_delay_spread": "delay spread [s]",
    "labels_per_client": "labels per client $p$",
    "truncation": r"truncation threshold $g$ on $|h|^2$",
    "concentration": "Dirichlet concentration",
    "interleaver_seed": "interleaver",
}
SYMBOLS = {
    "labels_per_client": "$p$",
    "truncation": "$g$",
    "csi_variance": r"$\sigma_e^2$",
    "fading_k_factor": "$K$",
}
"""Names short enough to stand above a panel."""


def swept(study: xr.Dataset) -> list[str]:
    """The dimensions of the sweep with more than one value, seeds apart."""
    names = [str(dim) for dim in study["finished"].dims]
    return [name for name in names if name != "seed" and study.sizes[name] > 1]


def numeric(study: xr.Dataset, dim: str) -> bool:
    """Whether its values have places on an axis."""
    return study[dim].dtype.kind in "fiu" and bool(np.isfinite(study[dim].values).all())


def one_seed(study: xr.Dataset) -> xr.Dataset:
    """The first of the seeds of which most is done."""
    if "seed" not in study.dims:
        return study
    done = study["finished"].sum([dim for dim in study["finished"].dims if dim != "seed"])
    return study.isel(seed=int(done.argmax("seed")))


def line_dim(study: xr.Dataset, *others: str) -> str | None:
    """The dimension that tells the lines of a panel apart: the algorithms if they differ."""
    free = [dim for dim in swept(study) if dim not in others]
    return "algorithm" if "algorithm" in free else (free[-1] if free else None)


def label_of(dim: str) -> str:
    return LABELS.get(dim, dim.replace("_", " "))


def value_label(dim: str, value: object) -> str:
    """A value, as in a legend or above a panel."""
    if isinstance(value, str):
        return style.ALGORITHMS.get(value, value)
    if dim in SYMBOLS:
        return f"{SYMBOLS[dim]} = {value:g}"
    name, _, unit = label_of(dim).partition(" [")
    return f"{name} {value:g} {unit.rstrip(']')}".strip()


def place_label(chosen: Mapping[str, Any]) -> str:
    """Values of several dimensions."""
    values = {dim: v.item() if hasattr(v, "item") else v for dim, v in chosen.items()}
    return ", ".join(value_label(dim, value) for dim, value in values.items())


def lines(study: xr.Dataset, dim: str | None) -> Iterator[tuple[str, dict, xr.Dataset]]:
    """Label, look and data of each line; one without a label if nothing tells them apart."""
    if dim is None:
        yield "", style.look(None), study
        return
    values = study[dim].values
    for place, value in enumerate(values):
        plain = value.item() if hasattr(value, "item") else value
        look = style.look(plain, place, len(values))
        yield value_label(dim, plain), look, study.sel({dim: value})


def mean_and_confidence(values: xr.DataArray) -> tuple[NDArray, NDArray]:
    """Over the seeds: the mean, and half the width of its 95 % interval, by Student's t.

    Half the width is NaN for a single seed.
    """
    if "seed" not in values.dims:
        return values.values, np.full(values.shape, np.nan)
    count = values.notnull().sum("seed")
    mean = values.sum("seed") / count.where(count > 0)
    freedom = (count - 1).where(count > 1)
    variance = ((values - mean) ** 2).sum("seed") / freedom
    factor = student.ppf(0.975, freedom.values)
    return mean.values, factor * np.sqrt((variance / count).values)


def panels(
    study: xr.Dataset, *inside: str | None, height: float = 1.9
) -> tuple[Figure, list[tuple[Axes, xr.Dataset]]]:
    """A figure, and a panel with its data for every value of the dimensions not inside."""
    outside = [dim for dim in swept(study) if dim not in inside]
    everywhere = list(product(*(study[dim].values for dim in outside)))
    places = everywhere[:MOST_PANELS]
    columns = 1
    if outside:
        last = study.sizes[outside[-1]]
        columns = last if last <= 4 else 3
    rows = -(-len(places) // columns)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    size = (width, (height if len(places) > 1 else max(height, 2.5)) * rows + 0.2)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False
    )
    pairs = []
    for axes, place in zip(grid.flat, places, strict=False):
        chosen = dict(zip(outside, place, strict=True))
        axes.set_title(place_label(chosen))
        pairs.append((axes, study.sel(chosen).squeeze(single(study), drop=True)))
    for axes in grid.flat[len(places) :]:
        axes.set_visible(False)
    if len(everywhere) > len(places):
        figure.suptitle(f"the first {len(places)} of {len(everywhere)} panels")
    return figure, pairs


def single(study: xr.Dataset) -> list[str]:
    """Swept dimensions of one value."""
    dims = [str(dim) for dim in study["finished"].dims]
    return [dim for dim in dims if dim != "seed" and study.sizes[dim] == 1]


def outer_labels(pairs: list[tuple[Axes, xr.Dataset]], x: str, y: str) -> None:
    """Labels at the left and lower edge of the grid, numbers below the last panel of a column."""
    places = [axes.get_subplotspec() for axes, _ in pairs]
    columns = [0 if place is None else place.colspan.start for place in places]
    for number, (axes, _) in enumerate(pairs):
        place = places[number]
        if columns[number] == 0:
            axes.set_ylabel(y)
        if place is None or place.is_last_row():
            axes.set_xlabel(x)
        if columns[number] not in columns[number + 1 :]:
            axes.tick_params(labelbottom=True)


def legend(figure: Figure, axes: Axes) -> None:
    """Of the lines in ``axes``, for the whole figure and above it, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    columns = min(len(labels), 4 if figure.get_figwidth() > style.COLUMN_WIDTH else 3)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def within_percent(mean: NDArray, half: NDArray) -> NDArray:
    """Error bars [2, ...] of a percentage, which end at 0 and 100."""
    return np.array([np.fmin(half, mean), np.fmin(half, 100 - mean)]) + 0 * half
