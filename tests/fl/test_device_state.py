"""The state per device, for those that have taken part."""

from __future__ import annotations

import numpy as np

from fl.device_state import DeviceState


def some():
    state = DeviceState().updated(np.array([2, 5]), {"a": np.array([[1.0, 2], [3, 4]])})
    return state.updated(np.array([5, 7]), {"a": np.array([[5.0, 6], [7, 8]])})


def test_rows_are_those_of_the_last_round_of_each_device():
    found = some().of_clients(np.array([2, 3, 5, 7]))
    assert found["a"].tolist() == [[1, 2], [0, 0], [5, 6], [7, 8]]
    assert found["a"].dtype == np.float64
    assert DeviceState().of_clients(np.array([1])) == {}
    assert sorted(some().rows) == [2, 5, 7]


def test_nothing_new_keeps_the_state():
    state = some()
    assert state.updated(np.array([9]), {}) is state


def test_a_state_does_not_change_with_the_arrays_it_was_made_of():
    array = np.array([[1.0, 2.0]])
    state = DeviceState().updated(np.array([4]), {"a": array})
    before, array[:] = state, 0
    assert before.of_clients(np.array([4]))["a"].tolist() == [[1, 2]]
    after = state.updated(np.array([4]), {"a": array})
    assert state.of_clients(np.array([4]))["a"].tolist() == [[1, 2]]
    assert after.of_clients(np.array([4]))["a"].tolist() == [[0, 0]]


def test_arrays_and_back():
    arrays = some().to_arrays()
    assert arrays["device"].tolist() == [2, 5, 7]
    assert arrays["a"].tolist() == [[1, 2], [5, 6], [7, 8]]
    again = DeviceState.from_arrays(arrays)
    assert again.of_clients(np.array([7, 2]))["a"].tolist() == [[7, 8], [1, 2]]
    assert DeviceState().to_arrays() == {}
    assert DeviceState.from_arrays({}) == DeviceState()
