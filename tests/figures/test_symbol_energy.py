"""Energy in each OFDM symbol."""

from __future__ import annotations

import numpy as np

from figures import (
    symbol_energy,
)


def test_symbol_energy(sweep):
    figure = symbol_energy.draw(sweep)
    load = sweep["symbol_load"].isel(seed=0).sel(algorithm="acpc", snr_db=10.0, truncation=0.01)
    (stairs,) = [each for each in figure.axes[0].patches if each.get_label() == "ACPC-OTA-FL"]
    np.testing.assert_allclose(stairs.get_data().values, load.mean("round"))
    assert float(load.max()) <= 1 + 1e-5  # the budget holds for every symbol
    assert figure.axes[0].lines[-1].get_ydata() == [1, 1]
