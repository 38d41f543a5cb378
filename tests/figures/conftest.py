"""Studies that several figures are drawn from."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from figures import (
    style,
)
from tests.figures.drawn import study_of
from tests.scenarios import small


@pytest.fixture(scope="session")
def data_file(tmp_path_factory):
    return small.write_data(tmp_path_factory.mktemp("data") / "blobs.npz")


@pytest.fixture(autouse=True)
def look():
    style.apply()
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def sweep(data_file, tmp_path_factory):
    """Algorithms, SNRs and truncations over OFDM, two seeds."""
    paper = {
        "source": "a paper",
        "keys": ["algorithm.name", "link.snr_db", "link.truncation"],
        "accuracy": [["acpc", 10.0, 0.1, 50.0], ["cotaf", 10.0, 0.1, 99.0]],
    }
    content = small.content(data_file, paper=paper)
    grid = {"fft_size": 8, "cp_length": 2, "guards": [1, 0]}
    content["link"] = {"kind": "ofdm", "grid": grid, "fading": {"kind": "rayleigh"}}
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "link.snr_db": [10.0, 20.0, 30.0],
        "link.truncation": [0.01, 0.1],
        "seed": [0, 1],
    }
    return study_of(content, tmp_path_factory.mktemp("sweep") / "study")


@pytest.fixture(scope="session")
def faulty(data_file, tmp_path_factory):
    """A limiter's backoff, two algorithms, two SNRs, two seeds."""
    content = small.content(data_file)
    content["link"] = {
        "kind": "waveform",
        "grid": {"fft_size": 16, "cp_length": 2, "guards": [1, 0]},
        "fading": {"kind": "rayleigh"},
    }
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "link.entry_snr_db": [0.0, 20.0],
        "link.transmit.soft_limiter.backoff_db": [40.0, 0.0, -40.0],
        "seed": [0, 1],
    }
    return study_of(content, tmp_path_factory.mktemp("faulty") / "study")
