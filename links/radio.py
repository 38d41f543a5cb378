"""Power, noise and participants, defined once for every link.

Block SNR, the paper's: snr_db = reference_power / sigma_c^2, with sigma_c^2 the noise variance of
a real entry. Entry SNR: entry_snr_db = reference_power / (d sigma_c^2), the Es/N0 of a resource
element when the block's power is spread over its d entries. Complex noise of a resource element
has variance N0 = 2 sigma_c^2. Changing a client's power changes no noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from links.uplink import Uplink
from otafl._base.arrays import FloatArray, IntArray, Rng
from otafl._base.decibels import from_db
from otafl._base.names import check_names
from otafl._base.validation import OptionError, Scalars, assign, integer, number, scalars, typed


class _DefaultSnr(float):
    """Sentinel default, so that an explicit ``snr_db=10.0`` can be told from the default."""

    name: str

    def __new__(cls, value: float, name: str) -> _DefaultSnr:
        default = super().__new__(cls, value)
        default.name = name
        return default

    def __reduce__(self) -> str:
        return self.name  # pickled by name


DEFAULT_SNR_DB = _DefaultSnr(10.0, "DEFAULT_SNR_DB")
DEFAULT_ENTRY_SNR_DB = _DefaultSnr(20.0, "DEFAULT_ENTRY_SNR_DB")

WEAKEST, STRONGEST = 1e-12, 1e12  # powers, which leave float32 room for signals
LARGEST_PATH_GAIN = 1e6


@dataclass(frozen=True)
class Participants:
    """Who takes part in a round, and when.

    Attributes
    ----------
    num_clients, length : int
        Clients, and entries of a vector.
    clients : ndarray of int, shape [num_clients]
        Global indices.
    everyone : bool
        Whether the indices are simply the first ones.
    time : float
        Time since the start of the run [s].
    rng : numpy.random.Generator
        Source of everything that is redrawn each round.
    device_rng : numpy.random.Generator or None
        Determines per-device quantities; None means that new devices are drawn.
    """

    num_clients: int
    length: int
    clients: IntArray
    everyone: bool
    time: float
    rng: Rng
    device_rng: Rng | None

    @classmethod
    def of(
        cls,
        num_clients: int,
        length: int,
        rng: Rng,
        clients: ArrayLike | None,
        time: float,
        device_rng: Rng | None,
    ) -> Participants:
        """Return what ``open`` was given, validated."""
        num_clients = integer("num_clients", num_clients, least=1)
        if clients is None:
            chosen = np.arange(num_clients)
        else:
            chosen = np.asarray(clients)
            if (
                chosen.shape != (num_clients,)
                or chosen.dtype.kind not in "iu"
                or (chosen < 0).any()
                or len(np.unique(chosen)) != num_clients
            ):
                raise OptionError("clients", f"{num_clients} different indices >= 0", clients)
            chosen = chosen.astype(np.int64)
        typed("rng", rng, Rng, "a numpy.random.Generator")
        typed("device_rng", device_rng, Rng | None, "a numpy.random.Generator or None")
        return cls(
            num_clients,
            integer("length", length, least=1),
            chosen,
            clients is None,
            number("time", time),
            rng,
            device_rng,
        )

    @property
    def drawing(self) -> dict[str, Any]:
        """For whom, when and from what channels are drawn, as keyword arguments."""
        rngs = {"rng": self.rng, "device_rng": self.device_rng}
        return {"clients": self.clients, "time": self.time, **rngs}

    def only(self, places: IntArray) -> Participants:
        """Return some of the participants, by their places among all."""
        chosen = self.clients[places]
        return replace(self, num_clients=len(chosen), clients=chosen, everyone=False)

    def per_client(self, name: str, value: Scalars) -> FloatArray:
        """Return a link's option as one value per client that takes part, [num_clients]."""
        if not isinstance(value, tuple):
            return np.full(self.num_clients, value)
        if self.everyone and len(value) != self.num_clients:
            raise OptionError(
                name,
                f"a scalar or one value for each of the {self.num_clients} clients (or say which "
                "clients take part)",
                got=f"{len(value)} values",
            )
        if self.clients.max() >= len(value):
            raise OptionError(
                name,
                f"a scalar or one value per client: client {self.clients.max()} takes part",
                got=f"{len(value)} values",
            )
        return np.array([value[client] for client in self.clients.tolist()])


class BaseLink(ABC):
    """Validates who takes part in a round; a link implements ``_open``."""

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
    ) -> Uplink:
        """Open the link for one round: draw channels and estimate them.

        Parameters
        ----------
        num_clients : int
            Clients that take part.
        length : int
            Entries of each client's vector.
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
        Uplink
        """
        who = Participants.of(num_clients, length, rng, clients, time, device_rng)
        for name in ("power", "path_gain"):  # too few values are refused before anything is drawn
            who.per_client(name, getattr(self, name, 1.0))
        return self._open(who)

    @abstractmethod
    def _open(self, who: Participants) -> Uplink: ...


def check_snr(link: Any, validate: Callable[..., Any] = number) -> None:
    """Validate that one of ``snr_db`` and ``entry_snr_db`` is given, or neither: the default."""
    both = {"snr_db": link.snr_db, "entry_snr_db": link.entry_snr_db}
    given = {
        name: value
        for name, value in both.items()
        if value is not None and not isinstance(value, _DefaultSnr)
    }
    if len(given) == 2:
        raise ValueError(
            "only one of snr_db and entry_snr_db may be given (the other as None), got "
            f"snr_db = {link.snr_db!r} and entry_snr_db = {link.entry_snr_db!r}"
        )
    if not given and both["snr_db"] is both["entry_snr_db"]:  # both None
        given = {"snr_db": None}
    for name, value in given.items():
        checked = validate(name, value, least=-200, infinite=True)
        assign(link, **{**dict.fromkeys(both), name: checked})


def check_radio_options(link: Any) -> None:
    """Validate the options of a link with a transmitter; call it in ``__post_init__``."""
    check_snr(link)
    assign(
        link,
        power=scalars("power", link.power, least=WEAKEST, most=STRONGEST),
        path_gain=scalars("path_gain", link.path_gain, least=WEAKEST, most=LARGEST_PATH_GAIN),
        reference_power=number(
            "reference_power", link.reference_power, least=WEAKEST, most=STRONGEST
        ),
    )


class Noise(NamedTuple):
    """Noise level.

    Attributes
    ----------
    snr_db, entry_snr_db : float
        Block SNR and entry SNR [dB].
    variance : float
        sigma_c^2 of a real entry.
    """

    snr_db: float
    entry_snr_db: float
    variance: float

    @property
    def std(self) -> float:
        """sigma_c."""
        return math.sqrt(self.variance)

    @property
    def report(self) -> dict[str, Any]:
        """The two SNRs, as a round reports them."""
        return {"snr_db": np.float64(self.snr_db), "entry_snr_db": np.float64(self.entry_snr_db)}


def noise_of(link: Any, length: int) -> Noise:
    """Return the noise of a link with a transmitter, for vectors of ``length`` entries."""
    spread = 10 * math.log10(length)
    if link.entry_snr_db is None:
        block, entry = link.snr_db, link.snr_db - spread
    else:
        block, entry = link.entry_snr_db + spread, link.entry_snr_db
    return Noise(block, entry, link.reference_power * from_db(-block))


def received_snr_db(signal: float, gain: float, noise: float) -> np.float64:
    """Return the energy ``gain^2 signal`` over that of the noise [dB]; either may be zero."""
    if signal == 0:
        return np.float64(-math.inf)
    if noise == 0 or math.isinf(gain):
        return np.float64(math.inf)
    return np.float64(10 * math.log10(signal / noise) + 20 * math.log10(gain))
