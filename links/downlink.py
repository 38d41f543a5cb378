"""A downlink opened for one round: checks and bookkeeping. The radio is in its medium."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Broadcast
from links.radio import STRONGEST, WEAKEST, Participants, check_radio_options
from links.uplink import LARGEST, squared_norm
from otafl._base.arrays import Rng
from otafl._base.names import check_names
from otafl._base.validation import OptionError, OutOfRangeError, assign, number, real_array


class DownlinkMedium(Protocol):
    """Carries the server's vector to the clients."""

    @property
    def airtime(self) -> float:
        """Time on the air of a broadcast, pilots included [s]."""

    def deliver(self, vector: NDArray) -> NDArray:
        """Return what each client receives of a nonzero vector [d], [num_clients, d].

        A single row stands for all clients if they receive the same.
        """


class OpenedDownlink:
    """A downlink opened for one round.

    Parameters
    ----------
    num_clients : int
        m, clients that take part.
    length : int
        d, entries of the server's vector.
    medium : DownlinkMedium
        Carries the vector.
    moving : bool
        Whether the channel is one process over the whole run.
    """

    def __init__(
        self, num_clients: int, length: int, medium: DownlinkMedium, *, moving: bool = False
    ) -> None:
        self.num_clients, self.length = num_clients, length
        self.medium = medium
        self.moving = moving

    def broadcast(self, vector: ArrayLike) -> Broadcast:
        """Send ``vector`` to all clients.

        If you broadcast again over the same downlink, the channels are the same and the noise is
        new.

        Parameters
        ----------
        vector : array_like, shape [d]
            What the server sends; zeros arrive as zeros.

        Returns
        -------
        Broadcast
        """
        values = self._checked(vector)
        power = squared_norm(values)
        rows, nmse = values[None], 0.0
        if power > 0:
            with np.errstate(over="ignore", invalid="ignore"):  # infinite models stop training
                rows = self.medium.deliver(values).astype(values.dtype, copy=False)
                nmse = sum(squared_norm(row - values) for row in rows) / (len(rows) * power)
        diagnostics: dict[str, Any] = {
            "downlink_nmse": np.float64(nmse),
            "downlink_airtime": np.float64(self.medium.airtime),
        }
        return Broadcast(np.broadcast_to(rows, (self.num_clients, self.length)), diagnostics)

    def _checked(self, vector: ArrayLike) -> NDArray:
        """Return ``[d]``, float32 or float64; reject NaN, infinity and values out of range."""
        values = np.ascontiguousarray(real_array("vector", vector))
        if values.shape != (self.length,):
            raise OptionError("vector", f"of shape {(self.length,)}", got=f"shape {values.shape}")
        peak = float(np.abs(values).max())
        if not math.isfinite(peak):
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            raise OptionError(f"vector[{place}]", "finite", values[place].item())
        if peak > LARGEST:
            raise OutOfRangeError("vector", f"at most {LARGEST:g} in magnitude", peak)
        return values


class BaseDownlink(ABC):
    """Validates who takes part in a round; a downlink implements ``_open``."""

    @check_names
    def open(
        self,
        num_clients: int,
        length: int,
        rng: Rng,
        *,
        clients: ArrayLike | None = None,
        time: float = 0.0,
        device_rng: Rng | None = None,
    ) -> OpenedDownlink:
        """Open the downlink for one round: draw channels and estimate them.

        Parameters
        ----------
        num_clients : int
            Clients that take part.
        length : int
            Entries of the server's vector.
        rng : numpy.random.Generator
            Source of everything that is redrawn each round.
        clients : array_like of int, shape [num_clients], optional
            Global indices of the clients that take part; by default the first ones.
        time : float
            Time since the start of the run [s].
        device_rng : numpy.random.Generator, optional
            Identical in every round; determines per-device quantities. Its state is not advanced.
            If omitted, new devices are drawn.

        Returns
        -------
        OpenedDownlink
        """
        return self._open(Participants.of(num_clients, length, rng, clients, time, device_rng))

    @abstractmethod
    def _open(self, who: Participants) -> OpenedDownlink: ...


def check_server_power(link: Any) -> None:
    """Validate the server's power, a scalar."""
    assign(
        link,
        power=number("power", link.power, least=WEAKEST, most=STRONGEST),
        reference_power=number(
            "reference_power", link.reference_power, least=WEAKEST, most=STRONGEST
        ),
    )


def check_server_options(link: Any) -> None:
    """Validate the options of a downlink through channels; call it in ``__post_init__``."""
    check_server_power(link)
    check_radio_options(link)
