"""The sweep of a scenario: which keys take which values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otafl._base.validation import OptionError
from scenarios.config.cell import Cell
from scenarios.errors import ScenarioError

Plain = bool | int | float | str
TABLES = tuple(name for name in Cell.model_fields if name != "seed")


@dataclass(frozen=True)
class Axis:
    """One key of the sweep.

    Attributes
    ----------
    key : str
        The dotted key.
    labels : tuple
        Its values, or their names.
    values : tuple
        What the scenario file has there.
    """

    key: str
    labels: tuple[Plain, ...]
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """A short name.

        ``snr_db`` for ``link.snr_db``, ``csi_snr_db`` for ``link.csi.snr_db``, and ``algorithm``
        for ``algorithm.name``.
        """
        parts = self.key.split(".")
        if len(parts) > 1 and parts[-1] in ("name", "kind"):
            return parts[-2]
        return "_".join(parts[-2:]) if len(parts) > 2 else parts[-1]

    @property
    def content(self) -> list[Plain] | dict[str, Any]:
        """The values as in a file."""
        if self.labels == self.values:
            return list(self.labels)
        return {str(k): v for k, v in zip(self.labels, self.values, strict=True)}


def read_axes(sweep: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Return the axes of a sweep, lists before tables: the order that they have in a file."""
    axes = [_axis(key, values) for key, values in sweep.items()]
    for one in axes:
        for other in axes:
            if other.key.startswith(f"{one.key}."):
                raise ScenarioError(
                    f"sweep.{one.key} and sweep.{other.key} cannot be combined: "
                    f"{one.key} is swept as a whole"
                )
    return tuple(sorted(axes, key=lambda axis: isinstance(sweep[axis.key], Mapping)))


def _axis(key: str, values: Any) -> Axis:
    name = f"sweep.{key}"
    if not isinstance(values, list | Mapping) or not values:
        raise _error(name, "a list of values or a table of named values, with at least one", values)
    tables = isinstance(values, Mapping) and all(isinstance(v, Mapping) for v in values.values())
    if key in TABLES and not tables:
        example = f'"{key}.{next(iter(values))}" = [...]'
        raise _error(name, f"a table of named tables; quote dotted keys, as in {example}", values)
    labels = tuple(values)
    for label in labels:
        if isinstance(values, Mapping) and not isinstance(label, str):
            raise ScenarioError(f"{name}: the name of a value must be a string, got {label!r}")
        if not isinstance(label, Plain) or (isinstance(label, float) and math.isnan(label)):
            raise ScenarioError(
                f"{name}: a value in a list must be a number or a string, got {label!r}; name "
                f"other values: [sweep.{key!r}] name = value"
            )
    if len(set(labels)) < len(labels):
        raise _error(name, "a list without duplicates", list(labels))
    return Axis(key, labels, tuple(values.values()) if isinstance(values, Mapping) else labels)


def _error(name: str, must: str, value: Any) -> ScenarioError:
    return ScenarioError(str(OptionError(name, must, value)))
