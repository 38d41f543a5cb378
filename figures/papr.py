"""How high the peaks of the clients' OFDM symbols are, beside what theory says of them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from phy.impairments.theory import papr_ccdf

OVERSAMPLED = 2.8  # times as many independent samples as carriers, a rule of thumb


def applies(study: xr.Dataset) -> bool:
    return "papr_db" in study and bool(_without_fault(study)["papr_db"].notnull().any())


def _without_fault(study: xr.Dataset) -> xr.Dataset:
    """The runs at the first value of a fault: over the rounds a fault changes what is learnt."""
    fault = study.attrs["fault"]
    return study.isel({fault: 0}) if fault in study.dims else study


def draw(study: xr.Dataset) -> Figure:
    """The part of the symbols whose peak over mean power is larger, over all runs and rounds."""
    study = _without_fault(study)
    figure, axes = plt.subplots(figsize=(style.COLUMN_WIDTH, 2.6))
    dim = "algorithm" if "algorithm" in panels.swept(study) else None
    fewest = 1.0
    for label, look, run in panels.lines(study, dim):
        values = np.sort(run["papr_db"].values.reshape(-1))
        values = values[np.isfinite(values)]
        if not len(values):
            continue
        fewest = min(fewest, 1 / len(values))
        share = 1 - np.arange(len(values)) / len(values)
        axes.step(values, share, label=label or "measured", **{**look, "marker": None})
    ratio = np.linspace(4, 13, 300)
    for factor, name, line in (
        (1.0, "theory, Nyquist rate", ":"),
        (OVERSAMPLED, "2.8 N rule", "-"),
    ):
        tail = papr_ccdf(10 ** (ratio / 10), factor * study.attrs["carriers"])
        axes.plot(ratio, tail, line, color="0.5", linewidth=0.8, label=name)
    axes.set(
        xlabel="PAPR of a symbol, oversampled [dB]",
        ylabel="P(larger)",
        yscale="log",
        xlim=(4, 13),
        ylim=(max(fewest, 1e-5), 1.2),
    )
    axes.legend(loc="lower left")
    return figure
