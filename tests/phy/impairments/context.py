"""A slot that impairments can be tried on alone."""

from __future__ import annotations

import numpy as np
import pytest

from phy import OfdmGrid
from phy.impairments import Devices, SlotContext

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))


def slot_of(rng, devices=2, symbols=3, rms=1.0, **options) -> SlotContext:
    """Return a slot of ``symbols`` on the way through the hardware of ``devices``."""
    return SlotContext(
        GRID, symbols, np.full(devices, rms), Devices(7, range(devices)), rng, **options
    )


def check_message(make, names) -> None:
    """Assert that ``make`` is refused with a ValueError that contains all ``names``."""
    with pytest.raises(ValueError) as refused:
        make()
    for name in names:
        assert name in str(refused.value)
