"""The table ``data`` of a scenario: a dataset, and how it is divided among the clients."""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from fl import Dataset, Problem, load_dataset
from fl.data import KERAS_NAMES
from fl.partition import Shards, partition_by_label, partition_dirichlet, partition_unbalanced
from fl.quadratic import default_quadratic
from fl.streams import Purpose, stream
from otafl._base.validation import OptionError, number
from scenarios.config.model import COUNT
from scenarios.config.parts import Part, checked, one_of

DATASETS = ("mnist", "quadratic", *KERAS_NAMES)
"""Names that are never files, even if a file of that name exists."""


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise OptionError(name, "a string", given)
    return given


def _shares(name: str, given: Any) -> list[float]:
    if not isinstance(given, list | tuple) or not given:
        raise OptionError(name, "a list of numbers", given)
    return [number(f"{name}[{i}]", each, above=0) for i, each in enumerate(given)]


_TEXT: Any = checked(_text)
_SHARES: Any = checked(_shares)
_POSITIVE: Any = checked(number, above=0)


def files_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files in a directory."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        if file.is_file():
            total.update(_file_digest(file, file.stat().st_mtime_ns, file.stat().st_size))
    return total.hexdigest()


@lru_cache
def _file_digest(path: Path, changed: int, size: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@lru_cache(maxsize=1)
def _dataset(name: str) -> Dataset:
    return load_dataset(name)


class PartitionConfig(Part):
    """Samples of a dataset, each held by one client.

    Attributes
    ----------
    name : str
        The dataset, as :func:`fl.load_dataset` takes it.
    sha256 : str
        Digest of a dataset in files, filled in automatically: a study is never continued with
        other data.
    """

    name: _TEXT = "mnist"
    sha256: _TEXT = ""

    @model_validator(mode="before")
    @classmethod
    def _identify(cls, table: Any) -> Any:
        """Make a dataset in files the same from wherever a study is resumed, or refuse it."""
        name = table.get("name") if isinstance(table, Mapping) else None
        if not isinstance(name, str) or name in DATASETS or not os.path.exists(name):
            return table
        path = Path(name).resolve()
        found = files_digest(path)
        expected = table.get("sha256") or found
        if expected != found:
            raise ValueError(f"{name} has changed: its sha256 was {expected}, and is now {found}")
        return {**table, "name": str(path), "sha256": found}

    def problem(self, model: Any, seed: int) -> Problem:
        """Return the learning problem for a model config; ``seed`` determines the partition."""
        data = _dataset(self.name)
        shards = self.shards(data, stream(seed, 0, Purpose.PARTITION))
        return Problem(model.build(data), data, shards)

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


class Quadratics(Part):
    """No dataset: one quadratic of ``size`` dimensions per client, for the theory."""

    partition: Literal["quadratic"] = "quadratic"
    clients: COUNT = 10
    size: COUNT = 20

    def problem(self, model: Any, seed: int) -> Problem:
        """Return the learning problem, which is the same for every seed."""
        return default_quadratic(self.clients, self.size)


DATA: Any = one_of(ByLabel, ByDirichlet, Unbalanced, Quadratics)
"""The partitions that a scenario can choose."""
