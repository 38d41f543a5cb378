"""Memory that is used again and again: pages fresh from the system cost more than arithmetic."""

from __future__ import annotations

import math
import threading

import numpy as np
from numpy.typing import NDArray

LARGEST = 1 << 20  # complex samples that are kept; more are rare, and not worth holding on to


class Scratch(threading.local):
    """Arrays by name, of any content, valid until their name is asked for again in this thread."""

    def __init__(self) -> None:
        self._rooms: dict[str, NDArray[np.complex64]] = {}

    def __call__(self, name: str, shape: tuple[int, ...]) -> NDArray[np.complex64]:
        size = math.prod(shape)
        if size > LARGEST:
            return np.empty(shape, np.complex64)
        room = self._rooms.get(name)
        if room is None or len(room) < size:
            room = self._rooms[name] = np.empty(size, np.complex64)
        return room[:size].reshape(shape)


scratch = Scratch()
