"""The table of metrics: names that stored studies use, and what runs record."""

from __future__ import annotations

import numpy as np
import pytest

from fl.metrics import BOUND, METRICS, WEIGHT, Metric

STORED = {  # by version 0.1: a name that changes makes old studies unreadable
    "rate": ("round",),
    "gain": ("round",),
    "train_loss": ("round",),
    "largest_gradient": ("round", "client"),
    "steps": ("round", "client"),
    "scaled_down": ("round", "client"),
    "energy": ("round", "client"),
    "worst_symbol_energy": ("round", "client"),
    "symbol_load": ("round", "symbol"),
    "load": ("round", "client"),
    "nmse": ("round",),
    "received_snr_db": ("round",),
    "active_fraction": ("round", "client"),
    "airtime": ("round",),
    "radiated_energy": ("round", "client"),
    "clip_rate": ("round", "client"),
    "papr_db": ("round", "client"),
    "squared_gradient_norm": ("round",),
    "test_loss": ("round",),
    "test_accuracy": ("round",),
}


def test_names_and_dimensions_are_those_of_stored_studies():
    kept = {name: metric.dims for name, metric in METRICS.items() if name in STORED}
    assert kept == STORED
    assert list(kept) == list(STORED)
    assert [*BOUND, WEIGHT.name] == [
        "bound_optimisation", "bound_statistical", "bound_local_update", "bound_channel_noise",
        "weight",
    ]  # fmt: skip


@pytest.mark.parametrize("metric", [*METRICS.values(), *BOUND.values(), WEIGHT], ids=repr)
def test_every_metric_is_explained(metric):
    assert metric.meaning.endswith(".")
    assert metric.label
    assert "[" not in metric.label
    assert not metric.cumulative or metric.reported or metric.name == "zcdp"


def test_axis_labels_have_units():
    assert METRICS["received_snr_db"].axis_label == "received SNR [dB]"
    assert METRICS["nmse"].axis_label == "NMSE"
    assert Metric("x", ("round",), "delay", "A delay.", "s").axis_label == "delay [s]"


def test_attributes_have_units():
    assert METRICS["airtime"].attributes["units"] == "s"
    assert METRICS["test_accuracy"].attributes == {
        "long_name": "test accuracy",
        "units": "1",
        "description": METRICS["test_accuracy"].meaning,
    }


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        METRICS["own"] = np.nan
