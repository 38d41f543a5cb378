"""Peak-to-average power ratios."""

from __future__ import annotations

import numpy as np
import pytest

from figures import (
    papr,
)


def test_papr(faulty, sweep):
    assert not papr.applies(sweep)
    assert papr.applies(faulty)
    (axes,) = papr.draw(faulty).axes
    values = faulty["papr_db"].sel(algorithm="cotaf", soft_limiter_backoff_db=40.0).values
    (measured,) = [each for each in axes.lines if each.get_label() == "COTAF"]
    np.testing.assert_allclose(measured.get_xdata().max(), np.nanmax(values))
    at = np.searchsorted(measured.get_xdata(), 6.0)
    assert measured.get_ydata()[at] == pytest.approx(np.mean(values[~np.isnan(values)] >= 6.0))
