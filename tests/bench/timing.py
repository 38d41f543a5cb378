"""Timing side by side: every work takes its turns, and the best turn of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

TURNS, SECONDS = 11, 0.1


def best_times(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each work: the best of averages over ``SECONDS``, taken in turn."""
    times = dict.fromkeys(works, np.inf)
    for work in works.values():
        work()
    for _ in range(TURNS):
        for name, work in works.items():
            count, elapsed, start = 0, 0.0, time.perf_counter()
            while not count or elapsed < SECONDS:
                work()
                count += 1
                elapsed = time.perf_counter() - start
            times[name] = min(times[name], elapsed / count)
    return times
