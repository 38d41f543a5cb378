"""A dataset in a file, and a small study of it."""

from __future__ import annotations

import pytest

from scenarios import load_scenario, run_study
from tests.scenarios import small


@pytest.fixture(scope="session")
def data_file(tmp_path_factory):
    return small.write_data(tmp_path_factory.mktemp("data") / "blobs.npz")


@pytest.fixture
def scenario(data_file):
    return load_scenario(small.content(data_file))


@pytest.fixture(scope="session")
def finished(data_file, tmp_path_factory):
    """A finished study, which no test may change."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    return run_study(load_scenario(small.content(data_file)), folder, workers=1, progress=False)
