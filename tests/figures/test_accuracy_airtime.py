"""Accuracy against time on the air, where rounds take different times."""

from __future__ import annotations

import numpy as np

from figures import accuracy_airtime
from tests.figures.drawn import study_of
from tests.scenarios import small


def content(data_file, **variants):
    """Return a scenario with variants over an OFDM link with 400 carriers."""
    base = small.content(data_file, algorithm={})
    base["link"] = {"kind": "ofdm", "grid": {"fft_size": 16, "cp_length": 4, "guards": [0, 0]}}
    base["link"]["fading"] = {"kind": "none"}
    base["sweep"] = {"variant": variants, "link.snr_db": [10.0, 30.0], "seed": [0, 1]}
    return base


def test_lines(data_file, tmp_path):
    half = {"algorithm.name": "adsgd", "algorithm.entries": 0.5, "algorithm.k": 5}
    study = study_of(
        content(data_file, COTAF={"algorithm.name": "cotaf"}, half=half), tmp_path / "study"
    )
    assert accuracy_airtime.applies(study)
    low, high = accuracy_airtime.draw(study).axes
    for axes, snr in ((low, 10.0), (high, 30.0)):
        for line, variant in zip(axes.lines, ("COTAF", "half"), strict=True):
            run = study.sel(variant=variant, snr_db=snr)
            np.testing.assert_allclose(line.get_xdata(), run["airtime"].mean("seed"))
            np.testing.assert_allclose(line.get_ydata(), 100 * run["test_accuracy"].mean("seed"))
            assert line.get_label() == variant
    assert (low.lines[1].get_xdata() < low.lines[0].get_xdata()).all()


def test_only_where_rounds_take_different_times(data_file, tmp_path):
    variants = {"COTAF": {"algorithm.name": "cotaf"}, "FedNova": {"algorithm.name": "fednova"}}
    study = study_of(content(data_file, **variants), tmp_path / "study")
    assert not accuracy_airtime.applies(study)
