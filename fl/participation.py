"""Which devices of a population take part in a round, and with which weights.

With alpha_i the client weights of all M devices, of which k take part, a selection is unbiased if
the expectation of the weighted sum over those who take part is sum_i alpha_i Delta_i. That holds
for :class:`RandomClients`, and for :class:`RoundRobin` as a mean over the rounds. Selection by
channel has no such weights: a device whose channel is good on average takes part more often, and
what it holds counts for more. ``History.participation_bias`` measures by how much.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.api import Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, boolean, choice, integer, number


@dataclass(frozen=True)
class Asked:
    """What a selection may use.

    Parameters
    ----------
    t : int
        The round, from 0.
    weights : ndarray of float64, [M]
        Client weights alpha_i of all devices.
    rng : numpy.random.Generator
        Source of what is drawn.
    quality : callable
        ``quality(devices)`` returns the mean power [n] of the channels of these candidates in this
        round, path gain included. It may be called once.
    memory : mapping of str to ndarray
        ``Chosen.memory`` of the previous round; empty in the first.
    """

    t: int
    weights: NDArray[np.float64]
    rng: Rng
    quality: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    memory: Mapping[str, NDArray] = field(default_factory=dict)

    @property
    def population(self) -> int:
        """M, the number of devices."""
        return len(self.weights)


@dataclass(frozen=True)
class Chosen:
    """Who takes part in a round.

    Parameters
    ----------
    clients : ndarray of int64, [m]
        Different global indices, ascending.
    weights : ndarray of float64, [m]
        How much each of them counts.
    memory : mapping of str to ndarray
        What the next selection finds in ``Asked.memory``; saved in checkpoints.
    """

    clients: NDArray[np.int64]
    weights: NDArray[np.float64]
    memory: Mapping[str, NDArray] = field(default_factory=dict)


class Participation(ABC):
    """The base class of all selections; only :meth:`select` must be implemented."""

    @abstractmethod
    def size(self, population: int) -> int:
        """Return the most clients that take part in a round; refuse a population too small."""

    @abstractmethod
    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""


@options
@dataclass(frozen=True)
class Everyone(Participation):
    """All devices take part in every round, as in the paper."""

    def size(self, population: int) -> int:
        """Return the most clients that take part in a round."""
        return population

    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""
        return Chosen(np.arange(asked.population), asked.weights)


@options
@dataclass(frozen=True)
class RandomClients(Participation):
    """k devices at random.

    Parameters
    ----------
    clients : int
        k, the number of draws per round.
    replacement : bool
        Whether a device may be drawn twice (False by default); it then takes part once, with twice
        the weight.
    by : {"uniform", "size"}
        Whether all devices are drawn with the same probability 1 / M (the default), or device i
        with probability alpha_i, its share of the data, which needs ``replacement``.

    Notes
    -----
    The weights of those drawn are unbiased: (M / k) alpha_i if they are drawn uniformly, with or
    without replacement, and 1 / k by size, once for every draw. The sum of the weights is 1 by size
    or for equal alpha_i, and 1 on average otherwise. Sampling by size is that of X. Li, K. Huang,
    W. Yang, S. Wang and Z. Zhang, "On the convergence of FedAvg on non-IID data", ICLR 2020,
    section 3.3, scheme I.

    Examples
    --------
    >>> RandomClients(20).size(100)
    20
    """

    clients: int
    replacement: bool = False
    by: Literal["uniform", "size"] = "uniform"

    def __post_init__(self) -> None:
        integer("clients", self.clients, least=1)
        boolean("replacement", self.replacement)
        choice("by", self.by, ("uniform", "size"))
        if self.by == "size" and not self.replacement:
            hint = ": without replacement, sampling by size has no simple unbiased weights"
            raise OptionError("replacement", "True with by = 'size'", False, hint)

    def size(self, population: int) -> int:
        """Return the most clients that take part in a round."""
        return self.clients if self.replacement else _at_most(self.clients, population)

    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""
        population = asked.population
        if self.by == "size":
            ends = np.cumsum(asked.weights)
            drawn = np.searchsorted(ends, ends[-1] * asked.rng.random(self.clients), side="right")
        elif self.replacement:
            drawn = asked.rng.integers(population, size=self.clients)
        else:
            drawn = asked.rng.choice(population, self.clients, replace=False, shuffle=False)
        clients, counts = np.unique(drawn, return_counts=True)
        if self.by == "size":
            return Chosen(clients, counts / self.clients)
        return Chosen(clients, counts * asked.weights[clients] * population / self.clients)


@options
@dataclass(frozen=True)
class RoundRobin(Participation):
    """k devices in turn, in the order of their indices, with the weights (M / k) alpha_i.

    Parameters
    ----------
    clients : int
        k, the number of clients per round.

    Examples
    --------
    >>> asked = Asked(1, np.full(5, 0.2), np.random.default_rng(), quality=lambda devices: devices)
    >>> RoundRobin(2).select(asked).clients
    array([2, 3])
    """

    clients: int

    def __post_init__(self) -> None:
        integer("clients", self.clients, least=1)

    def size(self, population: int) -> int:
        """Return the most clients that take part in a round."""
        return _at_most(self.clients, population)

    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""
        turn = asked.t * self.clients + np.arange(self.clients)
        clients = np.sort(turn % asked.population)
        return Chosen(clients, _scaled_up(asked, clients))


@options
@dataclass(frozen=True)
class BestChannels(Participation):
    """The k candidates with the strongest channels; biased where channels differ on average.

    Parameters
    ----------
    clients : int
        k, the number of clients per round.
    candidates : int
        Number of devices, drawn anew in each round, whose channels are measured; at least k.

    Notes
    -----
    The weights are (M / k) alpha_i. They are unbiased only if no device has a better channel than
    another on average; with path gains, positions or persistent fading they are not. For k = 1 of
    two devices with Rayleigh fading and mean powers g_1 and g_2, the first takes part with
    probability g_1 / (g_1 + g_2).
    """

    clients: int
    candidates: int

    def __post_init__(self) -> None:
        _check_candidates(self)

    def size(self, population: int) -> int:
        """Return the most clients that take part in a round."""
        _at_most(self.candidates, population, "candidates")
        return self.clients

    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""
        candidates = _candidates(asked, self.candidates)
        best = np.argsort(-asked.quality(candidates), kind="stable")[: self.clients]
        clients = np.sort(candidates[best])
        return Chosen(clients, _scaled_up(asked, clients))


@options
@dataclass(frozen=True)
class ProportionalFair(Participation):
    """The k candidates whose channels are strongest relative to what they were served with before.

    Parameters
    ----------
    clients : int
        k, the number of clients per round.
    candidates : int
        Number of devices, drawn anew in each round, whose channels are measured; at least k.
    window : float
        t_c > 1, the number of rounds over which the average fades; 10 by default.

    Notes
    -----
    The rule of P. Viswanath, D. N. C. Tse and R. Laroia, "Opportunistic beamforming using dumb
    antennas", IEEE Trans. Inf. Theory 48(6), 2002, section II, with the channel power q_i in place
    of the rate, to which it is proportional at low SNR: those with the largest q_i / T_i take part,
    and T_i becomes (1 - 1/t_c) T_i + (1/t_c) q_i if device i takes part and (1 - 1/t_c) T_i
    otherwise. T_i begins at 1. The weights are (M / k) alpha_i, as in :class:`BestChannels`: the
    bias of unequal mean powers is smaller, but not zero.
    """

    clients: int
    candidates: int
    window: float = 10.0

    def __post_init__(self) -> None:
        _check_candidates(self)
        number("window", self.window, above=1)

    def size(self, population: int) -> int:
        """Return the most clients that take part in a round."""
        _at_most(self.candidates, population, "candidates")
        return self.clients

    def select(self, asked: Asked) -> Chosen:
        """Choose who takes part in a round."""
        candidates = _candidates(asked, self.candidates)
        served, averages = self._averages(asked, candidates)
        quality = asked.quality(candidates)
        best = np.sort(np.argsort(-quality / averages, kind="stable")[: self.clients])
        clients, fade = candidates[best], 1 - 1 / self.window
        latest = fade * averages[best] + quality[best] / self.window
        kept = {
            device: (last, value)
            for device, last, value in zip(
                served["device"].tolist(), served["round"], served["average"], strict=True
            )
        } | {device: (asked.t + 1, v) for device, v in zip(clients.tolist(), latest, strict=True)}
        devices = np.array(sorted(kept), np.int64)
        memory = {
            "device": devices,
            "round": np.array([kept[device][0] for device in devices.tolist()], np.int64),
            "average": np.array([kept[device][1] for device in devices.tolist()]),
        }
        return Chosen(clients, _scaled_up(asked, clients), memory)

    def _averages(
        self, asked: Asked, devices: NDArray[np.int64]
    ) -> tuple[Mapping[str, NDArray], NDArray[np.float64]]:
        """Return the memory, and T_i [n] of these devices: it fades since they last took part."""
        empty = {"device": np.empty(0, np.int64), "round": np.empty(0), "average": np.empty(0)}
        memory = asked.memory or empty
        fade = 1 - 1 / self.window
        averages = np.full(len(devices), fade**asked.t)
        place = np.searchsorted(memory["device"], devices)
        known = np.flatnonzero(place < len(memory["device"]))
        known = known[memory["device"][place[known]] == devices[known]]
        since = asked.t - memory["round"][place[known]]
        averages[known] = memory["average"][place[known]] * fade**since
        return memory, averages


def _candidates(asked: Asked, count: int) -> NDArray[np.int64]:
    return np.sort(asked.rng.choice(asked.population, count, replace=False, shuffle=False))


def _scaled_up(asked: Asked, clients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (M / k) alpha_i of the clients."""
    return asked.weights[clients] * asked.population / len(clients)


def _at_most(clients: int, population: int, name: str = "clients") -> int:
    if clients > population:
        must = f"at most {population}, the number of devices"
        raise OptionError(name, must, clients)
    return clients


def _check_candidates(selection: BestChannels | ProportionalFair) -> None:
    integer("clients", selection.clients, least=1)
    integer("candidates", selection.candidates, least=1)
    if selection.candidates < selection.clients:
        must = f"at least {selection.clients}, the value of clients"
        raise OptionError("candidates", must, selection.candidates)
