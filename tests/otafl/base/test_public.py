"""Public names that are imported on first use."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from otafl._base.public import getter


def test_a_name_is_imported_once_and_a_wrong_one_is_refused(monkeypatch):
    package = ModuleType("some_package")
    monkeypatch.setitem(sys.modules, "some_package", package)
    get = getter("some_package", {"sqrt": "math"})
    assert get("sqrt")(9.0) == 3.0
    assert package.sqrt is get("sqrt")
    with pytest.raises(AttributeError, match=r"'some_package' has no .* 'sqtr'; .* 'sqrt'\?"):
        get("sqtr")
