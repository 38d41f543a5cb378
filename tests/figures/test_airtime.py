"""Accuracy against time on the air and energy."""

from __future__ import annotations

import numpy as np

from figures import (
    airtime,
)
from tests.figures.drawn import study_of
from tests.scenarios import small


def test_airtime(data_file, tmp_path):
    content = small.content(data_file, algorithm={"name": "cotaf"})
    content["link"] = {"entry_snr_db": 10.0, "fading": {"kind": "rayleigh"}}
    content["sweep"] = {"link.kind": ["ofdm", "orthogonal"], "data.clients": [2, 4]}
    study = study_of(content, tmp_path / "study")
    left, right = airtime.draw(study).axes
    run = study.sel(link="orthogonal", clients=4)
    np.testing.assert_allclose(left.lines[3].get_xdata(), run["airtime"])
    np.testing.assert_allclose(right.lines[3].get_xdata(), run["radiated_energy"].sum("client"))
    assert right.get_xlabel() == "radiated energy, all clients"
