"""A channel that is given instead of drawn, and where noise can be known beforehand."""

from __future__ import annotations

import numpy as np

from phy.fading import Taps


class FixedFading:
    """Path gains ``[num_clients, num_paths]`` and their delays [s]."""

    moving = False
    law = None

    def __init__(self, gains, delays=(0.0,)):
        self.gains = np.asarray(gains, np.complex64)
        self.delays = np.asarray(delays, np.float64)

    def draw(self, clients, times, rng, device_rng):
        return Taps(self.gains[clients][:, None], self.delays)
