"""Local steps of ACPC-OTA-FL."""

from __future__ import annotations

import numpy as np

from figures import (
    local_steps,
)


def test_local_steps(sweep):
    figure = local_steps.draw(sweep)
    steps = sweep["steps"].isel(seed=0).sel(algorithm="acpc", snr_db=10.0, truncation=0.01)
    (mesh,) = figure.axes[0].collections
    np.testing.assert_array_equal(mesh.get_array(), steps.transpose("client", "round"))
