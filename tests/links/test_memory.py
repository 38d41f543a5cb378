"""A round streams: memory grows with the length of a vector, not with clients times taps."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from links import OfdmLink
from phy import Tdl


@pytest.mark.parametrize("speed", [0.0, 10.0])
def test_a_hundred_clients_of_a_million_entries_stay_within_a_gibibyte(speed):
    signals = np.ones((100, 1_000_000), np.float32)
    link = OfdmLink(fading=Tdl("A", speed=speed))
    tracemalloc.start()
    try:
        uplink = link.open(100, 1_000_000, np.random.default_rng(1))
        received = uplink.send(signals, 1e-9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert received.total.shape == (1_000_000,)
    assert peak < 2**30
