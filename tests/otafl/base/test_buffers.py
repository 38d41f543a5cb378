"""Arrays that are used again."""

from __future__ import annotations

import threading

import numpy as np

from otafl._base.buffers import LARGEST, Buffers


def test_a_name_has_one_array_that_grows_and_is_used_again():
    buffer = Buffers()
    first = buffer("bins", (2, 3))
    assert first.shape == (2, 3)
    assert first.dtype == np.complex64
    assert np.shares_memory(first, buffer("bins", (3, 2)))
    assert np.shares_memory(first, buffer("bins", (1,)))
    large = buffer("bins", (10, 10))
    assert not np.shares_memory(first, large)
    assert np.shares_memory(large, buffer("bins", (2, 3)))


def test_names_do_not_share():
    buffer = Buffers()
    assert not np.shares_memory(buffer("bins", (4,)), buffer("product", (4,)))


def test_what_is_too_large_is_not_kept():
    buffer = Buffers()
    kept, fresh = buffer("bins", (LARGEST,)), buffer("bins", (LARGEST + 1,))
    assert not np.shares_memory(kept, fresh)
    assert not np.shares_memory(fresh, buffer("bins", (LARGEST + 1,)))
    assert np.shares_memory(kept, buffer("bins", (LARGEST,)))


def test_threads_do_not_share():
    buffer, found = Buffers(), []
    mine = buffer("bins", (8,))
    thread = threading.Thread(target=lambda: found.append(buffer("bins", (8,))))
    thread.start()
    thread.join()
    assert len(found) == 1
    assert not np.shares_memory(mine, found[0])
