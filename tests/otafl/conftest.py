"""The small study of the scenario tests."""

from tests.scenarios.conftest import data_file, finished, scenario  # noqa: F401
