"""Peak-to-average power ratio of the clients' OFDM symbols, beside theory."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style
from phy.impairments.theory import papr_ccdf

OVERSAMPLED = 2.8  # independent samples per carrier with oversampling, a rule of thumb


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    return "papr_db" in study and bool(_unimpaired(study)["papr_db"].notnull().any())


def _unimpaired(study: xr.Dataset) -> xr.Dataset:
    """Return the runs at the first value of an impairment, which changes what is learnt."""
    impairment = study.attrs["impairment"]
    return study.isel({impairment: 0}) if impairment in study.dims else study


def draw(study: xr.Dataset) -> Figure:
    """Draw the fraction of symbols with a larger PAPR, over all runs and rounds."""
    study = _unimpaired(study)
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
    for factor, name, line in ((1, "theory, Nyquist rate", ":"), (OVERSAMPLED, "2.8 N rule", "-")):
        tail = papr_ccdf(10 ** (ratio / 10), factor * study.attrs["carriers"])
        axes.plot(ratio, tail, line, color="0.5", linewidth=0.8, label=name)
    axes.set(yscale="log", xlim=(4, 13), ylim=(max(fewest, 1e-5), 1.2))
    axes.set(xlabel=panels.metric_label("papr_db", "dB", "oversampled"), ylabel="P(larger)")
    axes.legend(loc="lower left")
    return figure
