"""A population whose shards are a function of (seed, device) and are never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from otafl._base.names import options
from otafl._base.validation import OptionError, assign, integer


@options
@dataclass(frozen=True, eq=False)
class Population(Sequence[NDArray[np.int64]]):
    """Many devices, each with a few samples of a few labels.

    It stands for the shards of a :class:`fl.Problem`. The samples of a device are drawn when they
    are needed, from a generator of its own, so a population of any size takes no memory except
    for the client weights. Samples of different devices may be the same: there are more devices
    than a dataset could be divided among.

    Parameters
    ----------
    labels : array_like of int, [n]
        Labels of the training samples.
    devices : int
        M, the number of devices.
    samples : int
        Number of samples of each device.
    labels_per_device : int
        p, the number of labels that a device holds, in nearly equal numbers; 2 by default.
    seed : int
        Identifies the population; 0 by default.

    Raises
    ------
    ValueError
        If there are fewer labels than p, or too few samples of a label.

    Examples
    --------
    >>> shards = Population(np.arange(1000) % 10, devices=100_000, samples=20)
    >>> len(shards), len(shards[99_999]), len(np.unique(shards[99_999] % 10))
    (100000, 20, 2)
    """

    labels: NDArray[np.int64]
    devices: int
    samples: int
    labels_per_device: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 1 or not len(labels) or labels.dtype.kind not in "iu":
            raise OptionError("labels", "one label per sample", labels.shape, " as their shape")
        assign(self, labels=labels)
        integer("devices", self.devices, least=1)
        integer("samples", self.samples, least=1)
        integer("labels_per_device", self.labels_per_device, least=1)
        integer("seed", self.seed, least=0)
        kinds = len(self._by_label)
        if self.labels_per_device > kinds:
            must = f"at most {kinds}, the number of labels"
            raise OptionError("labels_per_device", must, self.labels_per_device)
        if self.samples < self.labels_per_device:
            must = f"at least {self.labels_per_device}, the value of labels_per_device"
            raise OptionError("samples", must, self.samples)
        most = self.labels_per_device * min(len(each) for each in self._by_label)
        if self.samples > most:
            must = f"at most {most}: the rarest label has {most // self.labels_per_device} samples"
            raise OptionError("samples", must, self.samples)

    @cached_property
    def _by_label(self) -> list[NDArray[np.int64]]:
        """The samples of each label."""
        return [np.flatnonzero(self.labels == label) for label in np.unique(self.labels)]

    def __len__(self) -> int:
        return self.devices

    def __getitem__(self, device: int) -> NDArray[np.int64]:  # type: ignore[override]
        """Return the indices of a device's samples, ascending."""
        if not 0 <= device < self.devices:
            raise IndexError(f"device must be from 0 to {self.devices - 1}, got {device}")
        rng = np.random.Generator(np.random.Philox(key=[self.seed, device]))
        held = rng.choice(len(self._by_label), self.labels_per_device, replace=False)
        sizes = np.full(self.labels_per_device, self.samples // self.labels_per_device)
        sizes[: self.samples % self.labels_per_device] += 1
        pieces = [
            rng.choice(self._by_label[label], size, replace=False)
            for label, size in zip(held, sizes, strict=True)
        ]
        return np.sort(np.concatenate(pieces))

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return (self[device] for device in range(self.devices))

    @property
    def weights(self) -> NDArray[np.float64]:
        """[M], client weights alpha_i = 1 / M."""
        return np.full(self.devices, 1 / self.devices)
