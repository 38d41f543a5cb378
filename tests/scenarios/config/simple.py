"""The simplest scenario, and its single cell."""

from __future__ import annotations

from scenarios import load_scenario
from scenarios.config.library import tomllib
from scenarios.config.scenario import Scenario

SIMPLE = {"algorithm": {"name": "cotaf"}, "link": {"kind": "gaussian"}}


def one(**tables):
    (cell,) = load_scenario({**SIMPLE, **tables}).cells
    return cell


def written(scenario):
    """Return the scenario as it is read back from a study's directory."""
    return Scenario.read(tomllib.loads(scenario.to_toml()))
