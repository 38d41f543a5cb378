"""Studies: scenarios, their sweeps and results, and the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.library import ScenarioError
    from scenarios.loading import load_scenario
    from scenarios.results import open_study
    from scenarios.scenario import Scenario
    from scenarios.study import run_study

__all__ = ["Scenario", "ScenarioError", "load_scenario", "open_study", "run_study"]

_HOMES = {
    "Scenario": "scenario",
    "ScenarioError": "library",
    "load_scenario": "loading",
    "open_study": "results",
    "run_study": "study",
}


def __getattr__(name: str) -> Any:
    """Imported on first use: the command line answers before NumPy is there."""
    if name not in _HOMES:
        raise AttributeError(f"module 'scenarios' has no attribute {name!r}")
    return getattr(import_module(f"scenarios.{_HOMES[name]}"), name)
