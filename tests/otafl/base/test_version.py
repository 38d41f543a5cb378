"""Versions of installed packages."""

from __future__ import annotations

from importlib.metadata import version

import otafl
from otafl._base.version import installed


def test_versions():
    assert otafl.__version__ == installed("otafl") == version("otafl")
    assert installed("no-such-package") == "not installed"
