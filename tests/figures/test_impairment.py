"""The cost of an impairment."""

from __future__ import annotations

import numpy as np

from figures import (
    impairment,
)
from tests.figures.drawn import drawn_lines, study_of
from tests.scenarios import small


def test_fault(faulty, sweep):
    assert not impairment.applies(sweep)
    assert impairment.applies(faulty)
    figure = impairment.draw(faulty)
    upper, lower = figure.axes[0], figure.axes[2]
    assert [axes.get_title() for axes in figure.axes[:2]] == ["ACPC-OTA-FL", "COTAF"]
    run = faulty.sel(algorithm="acpc", entry_snr_db=20.0).sortby("soft_limiter_backoff_db")
    np.testing.assert_allclose(
        drawn_lines(upper)[1], 100 * run["accuracy"].mean("seed").values, rtol=1e-6
    )
    decibels = 10 * np.log10(run["nmse"].median("round")).mean("seed")
    np.testing.assert_allclose(drawn_lines(lower)[1], decibels.values, rtol=1e-6)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "20"]


def test_names_of_hardware_have_places_too(data_file, tmp_path):
    content = small.content(data_file, rounds=2)
    content["link"] = {
        "kind": "waveform",
        "grid": {"fft_size": 16, "guards": [1, 0], "cp_length": 2},
    }
    content["link"]["fading"] = {"kind": "none"}
    hardware = {"clean": {}, "cheap_one": {"soft_limiter": {"backoff_db": 0.0}}}
    content["sweep"] = {"algorithm.name": ["acpc", "cotaf"], "link.transmit": hardware}
    figure = impairment.draw(study_of(content, tmp_path / "study"))
    ticks = [label.get_text() for label in figure.axes[2].get_xticklabels()]
    assert ticks == ["clean", "cheap one"]
    assert not figure.legends
