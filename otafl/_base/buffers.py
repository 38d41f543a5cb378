"""Reusable buffers: fresh pages from the operating system cost more than the arithmetic on them."""

from __future__ import annotations

import math
import threading

import numpy as np

from otafl._base.arrays import ComplexArray

LARGEST = 1 << 20  # complex samples that are kept; larger buffers are rare and not worth holding


class Buffers(threading.local):
    """Arrays by name, one set per thread.

    The content of an array is undefined, and valid until its name is asked for again in the same
    thread.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, ComplexArray] = {}

    def __call__(self, name: str, shape: tuple[int, ...]) -> ComplexArray:
        """Return the array ``name`` with that shape."""
        size = math.prod(shape)
        if size > LARGEST:
            return np.empty(shape, np.complex64)
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            array = self._arrays[name] = np.empty(size, np.complex64)
        return array[:size].reshape(shape)


buffer = Buffers()
