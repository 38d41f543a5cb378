"""Data that several tests train on."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Problem, partition_by_label
from tests.fl.problems import blobs


@pytest.fixture(scope="session")
def data():
    return blobs(np.random.default_rng(1))


@pytest.fixture(scope="session")
def shards(data):
    return partition_by_label(data.y_train, 4, 2, np.random.default_rng(1))


@pytest.fixture(scope="session")
def problem(data, shards):
    return Problem(None, data, shards)
