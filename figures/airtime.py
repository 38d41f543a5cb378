"""Accuracy against its cost: time on the air, and energy of all clients."""

from __future__ import annotations

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from figures import panels, style

KINDS = {"ofdm": "over the air", "orthogonal": "orthogonal digital"}


def applies(study: xr.Dataset) -> bool:
    """Return whether the study has the data for this figure."""
    swept = "link" in panels.swept(study) and "airtime" in study
    return swept and "orthogonal" in study["link"].values


def draw(study: xr.Dataset) -> Figure:
    """Draw means over the seeds: one colour per link, one shade per number of clients."""
    runs = study.mean("seed") if "seed" in study.dims else study
    figure, (left, right) = plt.subplots(1, 2, figsize=(style.PAGE_WIDTH, 2.6), sharey=True)
    others = [dim for dim in panels.swept(study) if dim != "link"]
    runs = runs.squeeze(panels.single(study), drop=True)
    stacked = runs.stack(case=others) if others else runs.expand_dims("case")
    count = stacked.sizes["case"]
    for place, kind in enumerate(stacked["link"].values):
        look = style.look(kind, place)
        look.pop("marker")
        for case in range(count):
            run = stacked.sel(link=kind).isel(case=case)
            values = run["case"].item() if others else ()
            label = ", ".join(panels.value_label(d, v) for d, v in zip(others, values, strict=True))
            look["alpha"] = 0.35 + 0.65 * (case + 1) / count
            look["linewidth"] = 0.7 + 1.2 * (case + 1) / count
            tested = run["test_accuracy"].notnull().values
            accuracy = 100 * run["test_accuracy"].values[tested]
            energy = run["radiated_energy"].sum("client").values[tested]
            name = f"{KINDS.get(str(kind), str(kind))}, {label}".rstrip(", ")
            left.plot(run["airtime"].values[tested], accuracy, label=name, **look)
            right.plot(energy, accuracy, **look)
    left.set(xscale="log", xlabel=panels.metric_label("airtime"), title="(a)")
    left.set_ylabel(panels.metric_label("test_accuracy", "%"))
    energy_label = f"{panels.metric_label('radiated_energy')} of all clients"
    right.set(xscale="log", xlabel=energy_label, title="(b)")
    figure.legend(loc="outside right center")
    return figure
