"""The table ``data`` of a scenario: a dataset, and how it is divided among the clients.

A user-defined dataset is a dataclass with a method ``load()`` that returns a :class:`fl.Dataset`,
a user-defined partition one with a method ``shards(data, rng)`` that returns the indices of the
samples of each client. The options of both stand in the table.
"""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import create_model, model_validator

from fl import Dataset, Population, Problem, load_dataset, standardise
from fl.data import KERAS_NAMES
from fl.partition import Shards, partition_by_label, partition_dirichlet, partition_unbalanced
from fl.quadratic import default_quadratic
from fl.streams import Purpose, stream
from otafl._base.files import data_sha256
from otafl._base.validation import OptionError, boolean, number, scalars, typed
from scenarios.config.catalogue import Catalogue
from scenarios.config.code import Code, UserClass, is_reference
from scenarios.config.model import COUNT
from scenarios.config.options import text
from scenarios.config.parts import (
    NONE,
    Part,
    checked,
    construction,
    field_type,
    later,
    mirror,
    written,
)
from scenarios.config.tables import Choice, One

DATASETS = ("mnist", "quadratic", *KERAS_NAMES)
"""Names that are never files, even if a file of that name exists."""


def _shares(name: str, given: Any) -> list[float]:
    if not isinstance(given, list | tuple) or not given:
        raise OptionError(name, "a list of numbers", given)
    return [number(f"{name}[{i}]", each, above=0) for i, each in enumerate(given)]


def _numbers(name: str, given: Any) -> Any:
    return None if given is None or given == NONE else scalars(name, given)


_TEXT: Any = checked(text)
_SHARES: Any = checked(_shares)
_POSITIVE: Any = checked(number, above=0)
_NUMBERS: Any = checked(_numbers)


def files_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files in a directory."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        if file.is_file():
            total.update(bytes.fromhex(data_sha256(file)))
    return total.hexdigest()


class StandardiseConfig(Part):
    """Options of :func:`fl.standardise`: measured on the training samples where not given."""

    mean: _NUMBERS = None
    deviation: _NUMBERS = None

    def apply(self, data: Dataset) -> Dataset:
        """Return the dataset with standardised samples."""
        return standardise(data, mean=self.mean, deviation=self.deviation)


_STANDARDISE: Any = field_type(One(StandardiseConfig, boolean))

_latest: dict[str, Dataset] = {}


def _cached(identity: str, load: Callable[[], Dataset]) -> Dataset:
    """Load a dataset, unless it is the one that was loaded last."""
    if identity not in _latest:
        _latest.clear()
        _latest[identity] = load()
    return _latest[identity]


class PartitionConfig(Part):
    """Samples of a dataset, each held by one client.

    Attributes
    ----------
    name : str
        The dataset, as :func:`fl.load_dataset` takes it.
    sha256 : str
        Digest of a dataset in files, filled in automatically: a study is never continued with
        other data.
    source : type
        The user's class, if the dataset is one.
    """

    file_key: ClassVar[str] = "name"
    not_files: ClassVar[tuple[str, ...]] = DATASETS
    source: ClassVar[Any] = None
    name: _TEXT = "mnist"
    sha256: _TEXT = ""
    standardise: _STANDARDISE = later("0.3", default=False, earlier=False)

    @model_validator(mode="before")
    @classmethod
    def _identify(cls, table: Any) -> Any:
        """Make a dataset in files the same from wherever a study is resumed, or refuse it."""
        name = table.get("name") if isinstance(table, Mapping) else None
        if not isinstance(name, str):
            return table
        if table.get("sha256") and (name in DATASETS or is_reference(name)):
            raise ValueError(f"sha256 must be left out for {name!r}, which is not a file")
        if name in DATASETS or not os.path.exists(name):
            return table
        path = Path(name).resolve()
        found = files_digest(path)
        expected = table.get("sha256") or found
        if expected != found:
            raise ValueError(f"{name} has changed: its sha256 was {expected}, and is now {found}")
        return {**table, "name": str(path), "sha256": found}

    @model_validator(mode="after")
    def _validate_source(self) -> PartitionConfig:
        """Let a user-defined dataset validate its options."""
        with construction(self.code):
            if self.source is not None:
                self._built(self.source)
        return self

    def _built(self, target: Any) -> Any:
        """Return an object of a user's class with the options that it has here."""
        return target(**self._options(target))

    def _options(self, target: Any) -> dict[str, Any]:
        names = [each.name for each in fields(target) if each.init] if is_dataclass(target) else []
        return {name: getattr(self, name) for name in names}

    def dataset(self) -> Dataset:
        """Return the dataset."""
        identity = f"{self.name} {self.sha256} {written(self.standardise)}"
        if self.source is not None:
            identity += f" {self.code} {written(sorted(self._options(self.source).items()))}"
        return _cached(identity, self._loaded)

    def _loaded(self) -> Dataset:
        if self.source is None:
            data = load_dataset(self.name)
        else:
            data = self._built(self.source).load()
            typed(f"the result of {self.name}.load()", data, Dataset, "an otafl.Dataset")
        if isinstance(self.standardise, StandardiseConfig):
            return self.standardise.apply(data)
        return standardise(data) if self.standardise else data

    def problem(self, model: Any, seed: int) -> Problem:
        """Return the learning problem for a model config; ``seed`` determines the partition."""
        data = self.dataset()
        shards = self.shards(data, stream(seed, 0, Purpose.PARTITION))
        return Problem(model.build(data, seed), data, shards)

    @abstractmethod
    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the indices of the samples of each client."""


class ByLabel(PartitionConfig):
    """Equal sizes, ``labels_per_client`` labels each: the paper's p."""

    partition: Literal["label"] = "label"
    clients: COUNT = 10
    labels_per_client: COUNT = 2

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the indices of the samples of each client."""
        return partition_by_label(data.y_train, self.clients, self.labels_per_client, rng)


class ByDirichlet(PartitionConfig):
    """Uneven in labels and sizes, the more so the smaller the concentration."""

    partition: Literal["dirichlet"] = "dirichlet"
    clients: COUNT = 10
    concentration: _POSITIVE = 1.0

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the indices of the samples of each client."""
        return partition_dirichlet(data.y_train, self.clients, self.concentration, rng)


class Unbalanced(PartitionConfig):
    """At random, in amounts proportional to ``shares``, one value per client."""

    partition: Literal["unbalanced"] = "unbalanced"
    shares: _SHARES

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the indices of the samples of each client."""
        return partition_unbalanced(data.y_train, self.shares, rng)


class OfPopulation(PartitionConfig):
    """Devices whose samples are a function of the seed and the device; see fl.Population."""

    partition: Literal["population"] = "population"
    devices: COUNT = 1000
    samples: COUNT = 60
    labels_per_device: COUNT = 2

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the population."""
        seed = int(rng.integers(2**63))
        return Population(data.y_train, self.devices, self.samples, self.labels_per_device, seed)


class Quadratics(Part):
    """No dataset: one quadratic of ``size`` dimensions per client, for the theory."""

    partition: Literal["quadratic"] = "quadratic"
    clients: COUNT = 10
    size: COUNT = 20

    def problem(self, model: Any, seed: int) -> Problem:
        """Return the learning problem, which is the same for every seed."""
        return default_quadratic(self.clients, self.size)


class UserPartition(PartitionConfig):
    """Shards that a user's class makes."""

    target: ClassVar[Any]

    @model_validator(mode="after")
    def _validate_target(self) -> UserPartition:
        """Let the class validate its options."""
        with construction(self.code):
            self._built(self.target)
        return self

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        """Return the indices of the samples of each client."""
        return self._built(self.target).shards(data, rng)


def _partition_of_user(user: UserClass, name: str) -> type[Part]:
    target, code = user.target, user.sha256
    return mirror(target, "partition", name, code=code, base=UserPartition)


def _with_dataset(kind: type[Part], table: Mapping[str, Any], code: Code) -> type[Part]:
    """Return the config of a partition, and of a user-defined dataset if the table has one."""
    name = table.get("name")
    if not SOURCES.is_users(name):
        return kind
    source = SOURCES.find(name, code)
    if not issubclass(kind, PartitionConfig):
        raise OptionError("partition", "one for a dataset", kind.choice)
    taken = set(source.model_fields) & set(kind.model_fields) - {"name"}
    if taken:
        must = f"a class whose options have other names than {', '.join(sorted(taken))}"
        raise OptionError("name", must, name)
    return _combined(kind, source)


@lru_cache
def _combined(kind: type[Part], source: type[Part]) -> type[Part]:
    """Return the config with the options of a partition and of a user-defined dataset."""
    options: dict[str, Any] = {
        option: (Annotated[(Any, *field.metadata)] if field.metadata else Any, field)
        for option, field in source.model_fields.items()
        if option != "name"
    }
    config = create_model(f"{kind.__name__}OfUser", __base__=kind, **options)
    config.source = source.target  # type: ignore[attr-defined]
    config.code = {**kind.code, **source.code}
    return config


SOURCES = Catalogue("dataset", "name", methods=["load"])
"""Datasets of users; ours are files and the names in ``DATASETS``."""
PARTITIONS = Catalogue("partition", "partition", methods=["shards"], config=_partition_of_user)
"""The partitions that a scenario can choose."""
for _config in (ByLabel, ByDirichlet, Unbalanced, OfPopulation, Quadratics):
    PARTITIONS.add_config(_config)
DATA: Any = field_type(Choice(PARTITIONS, refine=_with_dataset))
