"""The sweep of a scenario: which keys take which values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.library import ScenarioError
from scenarios.tables import Cell

Plain = bool | int | float | str
TABLES = tuple(name for name in Cell.model_fields if name != "seed")


@dataclass(frozen=True)
class Axis:
    """One key of the sweep.

    key : dotted
    labels : its values, or the names of those
    values : what stands in the scenario
    """

    key: str
    labels: tuple[Plain, ...]
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Short: ``snr_db`` of ``link.snr_db``, ``csi_snr_db`` of ``link.csi.snr_db``, and
        ``algorithm`` of ``algorithm.name``.
        """
        parts = self.key.split(".")
        if len(parts) > 1 and parts[-1] in ("name", "kind"):
            return parts[-2]
        return "_".join(parts[-2:]) if len(parts) > 2 else parts[-1]

    @property
    def content(self) -> list[Plain] | dict[str, Any]:
        """As in a file."""
        if self.labels == self.values:
            return list(self.labels)
        return {str(k): v for k, v in zip(self.labels, self.values, strict=True)}


def axes_of(sweep: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Lists before tables, which is the order that they have in a file."""
    axes = [_axis(key, values) for key, values in sweep.items()]
    for one in axes:
        for other in axes:
            if other.key.startswith(f"{one.key}."):
                raise ScenarioError(f"sweep of {one.key} and of {other.key} do not go together")
    return tuple(sorted(axes, key=lambda axis: isinstance(sweep[axis.key], Mapping)))


def _axis(key: str, values: Any) -> Axis:
    if not isinstance(values, list | Mapping) or not values:
        raise ScenarioError(
            f"sweep of {key} = {values!r} is not allowed: give a list of values, or a table of "
            "named ones"
        )
    tables = isinstance(values, Mapping) and all(isinstance(v, Mapping) for v in values.values())
    if key in TABLES and not tables:
        raise ScenarioError(
            f"sweep of {key} = {values!r} is not allowed: write keys with dots in quotes, as in "
            f'"{key}.{next(iter(values))}" = [...]'
        )
    labels = tuple(values)
    for label in labels:
        if isinstance(values, Mapping) and not isinstance(label, str):
            raise ScenarioError(f"sweep of {key}: {label!r} is no name: give texts")
        if not isinstance(label, Plain) or (isinstance(label, float) and math.isnan(label)):
            raise ScenarioError(
                f"sweep of {key}: {label!r} in a list is not allowed: give plain numbers and "
                f"texts, or name the values: [sweep.{key!r}] name = value"
            )
    if len(set(labels)) < len(labels):
        raise ScenarioError(f"sweep of {key} = {list(labels)!r} has a value twice")
    return Axis(key, labels, tuple(values.values()) if isinstance(values, Mapping) else labels)
