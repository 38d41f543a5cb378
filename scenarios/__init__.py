"""Studies: scenarios and their sweeps, running them, and reading the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otafl._base.public import getter

if TYPE_CHECKING:
    from scenarios.config.loading import load_scenario
    from scenarios.config.scenario import Scenario
    from scenarios.errors import ScenarioError
    from scenarios.study.merging import merge_studies
    from scenarios.study.results import open_study
    from scenarios.study.runner import run_study
    from scenarios.study.upgrade import upgrade_study

# fmt: off
__all__ = [
    "Scenario", "ScenarioError", "load_scenario", "merge_studies", "open_study", "run_study",
    "upgrade_study",
]
# fmt: on

_HOMES = {
    "Scenario": "scenarios.config.scenario",
    "ScenarioError": "scenarios.errors",
    "load_scenario": "scenarios.config.loading",
    "merge_studies": "scenarios.study.merging",
    "open_study": "scenarios.study.results",
    "run_study": "scenarios.study.runner",
    "upgrade_study": "scenarios.study.upgrade",
}
# the command line responds before NumPy is loaded
__getattr__ = getter(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
