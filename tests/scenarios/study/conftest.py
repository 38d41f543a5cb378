"""A study of some seconds, to be stopped."""

from __future__ import annotations

import pytest
import tomli_w

from tests.scenarios import small


@pytest.fixture
def long_file(data_file, tmp_path):
    """Some seconds of work in four batches."""
    file = tmp_path / "long.toml"
    file.write_text(tomli_w.dumps(small.content(data_file, rounds=400)))
    return file
