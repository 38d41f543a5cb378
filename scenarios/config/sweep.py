"""The sweep of a scenario: which keys take which values.

A table of dotted keys, each with a list of plain values, or with a table of named values where
these are tables or lists themselves. The key ``variant`` has named tables of dotted keys, which are
set together. The cells are the product of all, keys with lists before keys with tables, as in a
TOML file; the last key varies fastest.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.cell import Cell
from scenarios.config.keys import flat, set_key
from scenarios.config.tables import Choice, inner_table
from scenarios.errors import ScenarioError

Plain = bool | int | float | str
TABLES = tuple(name for name in Cell.model_fields if name != "seed")
VARIANT = "variant"
"""The key of a sweep that sets several keys at once."""


def short_name(key: str) -> str:
    """Return the short name of a swept key.

    >>> [short_name(key) for key in ("link.snr_db", "link.csi.snr_db", "algorithm.name")]
    ['snr_db', 'csi_snr_db', 'algorithm']

    The options of a downlink have names that tell them from those of the link.

    >>> [short_name(key) for key in ("downlink.kind", "downlink.snr_db", "downlink.csi.snr_db")]
    ['downlink', 'downlink_snr_db', 'downlink_csi_snr_db']
    """
    parts = key.split(".")
    if parts[0] == "downlink" and parts[1:] not in ([], ["kind"]):
        return f"downlink_{short_name('.'.join(['link', *parts[1:]]))}"
    if len(parts) > 1 and parts[-1] in ("name", "kind"):
        return parts[-2]
    return "_".join(parts[-2:]) if len(parts) > 2 else parts[-1]


@dataclass(frozen=True)
class Axis:
    """One key of the sweep.

    Attributes
    ----------
    key : str
        The dotted key, or ``variant``.
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
        """The short name of the key."""
        return short_name(self.key)

    @property
    def content(self) -> list[Plain] | dict[str, Any]:
        """The values as in a file."""
        if self.labels == self.values:
            return list(self.labels)
        return {str(k): v for k, v in zip(self.labels, self.values, strict=True)}

    @property
    def keys(self) -> set[str]:
        """The keys that the axis sets."""
        if self.key != VARIANT:
            return {self.key}
        return {key for value in self.values for key in flat(value)}

    def sets(self, key: str) -> bool:
        """Return whether the axis sets ``key``, a table that it is in, or one inside it."""
        return any(f"{key}.".startswith(f"{each}.") for each in self.keys)

    def set_value(self, tables: dict[str, Any], value: Any) -> None:
        """Set one of the values in the tables of a scenario."""
        pairs = flat(value) if self.key == VARIANT else {self.key: value}
        for key, each in pairs.items():
            set_key(tables, key, copy.deepcopy(each))


@dataclass(frozen=True)
class Sweep:
    """The product of several axes.

    Attributes
    ----------
    axes : tuple of Axis
        In the order of the product; the last varies fastest.
    """

    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values on each axis."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @cached_property
    def places(self) -> list[tuple[Plain, ...]]:
        """The labels of all cells, one per axis."""
        return list(product(*(axis.labels for axis in self.axes)))

    def labels_of(self, number: int) -> dict[str, Plain]:
        """Return the labels of a cell, by key."""
        return dict(zip((axis.key for axis in self.axes), self.places[number], strict=True))

    def tables(self, base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the tables of every cell: those of the scenario, with the values set."""
        for values in product(*(axis.values for axis in self.axes)):
            tables = copy.deepcopy(dict(base))
            for axis, value in zip(self.axes, values, strict=True):
                axis.set_value(tables, value)
            yield tables


def read_axes(sweep: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Return the axes of a sweep, lists before tables: the order that they have in a file."""
    axes = [_axis(key, values) for key, values in sweep.items()]
    for one in axes:
        for other in axes:
            if one is not other and VARIANT in (one.key, other.key):
                _refuse_both(one, other)
            elif other.key.startswith(f"{one.key}."):
                raise ScenarioError(
                    f"sweep.{one.key} and sweep.{other.key} cannot be combined: "
                    f"{one.key} is swept as a whole"
                )
    return tuple(sorted(axes, key=lambda axis: isinstance(sweep[axis.key], Mapping)))


def _refuse_both(one: Axis, other: Axis) -> None:
    twice = sorted(key for key in other.keys if one.sets(key))
    if twice:
        variants, axis = (one, other) if one.key == VARIANT else (other, one)
        raise ScenarioError(
            f"sweep.{axis.key} and sweep.{variants.key} cannot be combined: both set {twice[0]}"
        )


def _axis(key: str, values: Any) -> Axis:
    name = f"sweep.{key}"
    if not isinstance(values, list | Mapping) or not values:
        raise _error(name, "a list of values or a table of named values, with at least one", values)
    tables = isinstance(values, Mapping) and all(isinstance(v, Mapping) for v in values.values())
    if key == VARIANT and not tables:
        example = '[sweep.variant."more power"] followed by "link.power" = 4.0'
        raise _error(name, f"a table of named tables of keys, as in {example}", values)
    if key in TABLES and not tables:
        raise _error(name, "a table of named tables", values, _whole_table_hint(key, values))
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
    axis = Axis(key, labels, tuple(values.values()) if isinstance(values, Mapping) else labels)
    for each in axis.keys if key == VARIANT else ():
        top = each.partition(".")[0]
        if top not in Cell.model_fields:
            raise ScenarioError(
                f"{name}: {each} is not a key{did_you_mean(top, list(Cell.model_fields))}"
            )
    return axis


def _whole_table_hint(key: str, values: Any) -> str:
    """Say what was probably meant by values that are not whole tables."""
    table = inner_table(Cell, key)
    if isinstance(values, list) and isinstance(table, Choice):
        return f'; did you mean "{key}.{table.catalogue.chooser}"?'
    inside = next(iter(values)) if isinstance(values, Mapping) else "KEY"
    return f'; quote dotted keys, as in "{key}.{inside}" = [...]'


def _error(name: str, must: str, value: Any, hint: str = "") -> ScenarioError:
    return ScenarioError(str(OptionError(name, must, value, hint)))
