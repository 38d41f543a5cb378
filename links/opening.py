"""Who takes part in a round, and when: the same for every link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Rng
from phy.checks import integer, number
from phy.randomness import as_trials

SlotT = TypeVar("SlotT")


@dataclass(frozen=True)
class Opening:
    """Who takes part in a round, validated."""

    num_clients: int
    length: int
    clients: NDArray[np.int64]
    everyone: bool
    time: float
    rngs: list[np.random.Generator]
    device_rngs: Sequence[np.random.Generator | None]
    batched: bool

    @classmethod
    def of(
        cls,
        num_clients: int,
        length: int,
        rng: Rng,
        clients: ArrayLike | None,
        time: float,
        device_rng: Rng | None,
    ) -> Opening:
        num_clients = integer("num_clients", num_clients, least=1)
        chosen = np.arange(num_clients) if clients is None else np.asarray(clients)
        if clients is not None and (
            chosen.shape != (num_clients,)
            or not np.issubdtype(chosen.dtype, np.integer)
            or (chosen < 0).any()
            or len(np.unique(chosen)) != num_clients
        ):
            raise ValueError(
                f"clients = {clients!r} is not allowed: give {num_clients} different indices >= 0"
            )
        rngs, batched = as_trials("rng", rng)
        device_rngs: Sequence[np.random.Generator | None] = [None] * len(rngs)
        if device_rng is not None:
            device_rngs, device_batched = as_trials("device_rng", device_rng)
            if device_batched != batched or len(device_rngs) != len(rngs):
                forms = [
                    f"{len(g)} in a list" if b else "one"
                    for g, b in ((device_rngs, device_batched), (rngs, batched))
                ]
                raise ValueError(
                    f"device_rng has {forms[0]}, rng has {forms[1]}: give both the same form"
                )
        return cls(
            num_clients,
            integer("length", length, least=1),
            chosen.astype(np.int64),
            clients is None,
            number("time", time),
            rngs,
            device_rngs,
            batched,
        )

    @property
    def num_trials(self) -> int:
        return len(self.rngs)

    def outward(self, array: NDArray) -> NDArray:
        """Drop the trial axis, which is always there inside, if the caller has none."""
        return array if self.batched else array[0]


class BaseLink(ABC, Generic[SlotT]):
    """A link: validates who takes part, and opens a slot for them."""

    def open(
        self,
        num_clients: int,
        length: int,
        rng: Rng,
        *,
        clients: ArrayLike | None = None,
        time: float = 0.0,
        device_rng: Rng | None = None,
    ) -> SlotT:
        """Open a round: see :meth:`fl.api.Link.open`."""
        return self._open(Opening.of(num_clients, length, rng, clients, time, device_rng))

    @abstractmethod
    def _open(self, opening: Opening) -> SlotT: ...
