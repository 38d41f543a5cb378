"""Which devices of a population take part in a round, and with which weights.

With alpha_i the client weights of all M devices, of which k take part, a selection is unbiased if
the expectation of the weighted sum over those who take part is sum_i alpha_i Delta_i. That holds
for :class:`RandomClients`, and for :class:`RoundRobin` as a mean over the rounds. Selection by
channel has no such weights: a device whose channel is good on average takes part more often, and
its data count more. ``History.participation_bias`` measures by how much.
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
class SelectionContext:
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
        ``Selection.memory`` of the previous round; empty in the first.
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
class Selection:
    """Who takes part in a round.

    Parameters
    ----------
    clients : ndarray of int64, [m]
        Different global indices, ascending.
    weights : ndarray of float64, [m]
        The client weight of each of them in this round.
    memory : mapping of str to ndarray
        State for the next selection, as ``SelectionContext.memory``; saved in checkpoints.
    """

    clients: NDArray[np.int64]
    weights: NDArray[np.float64]
    memory: Mapping[str, NDArray] = field(default_factory=dict)


class Participation(ABC):
    """The base class of all selections, which implement :meth:`size` and :meth:`select`."""

    @abstractmethod
    def size(self, population: int) -> int:
        """Return the largest number of clients in a round; refuse too small a population."""

    @abstractmethod
    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""


@options
@dataclass(frozen=True)
class Everyone(Participation):
    """All devices take part in every round, as in the paper."""

    def size(self, population: int) -> int:
        """Return the largest number of clients in a round."""
        return population

    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""
        return Selection(np.arange(context.population), context.weights)


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
    probability : {"uniform", "size"}
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
    probability: Literal["uniform", "size"] = "uniform"

    def __post_init__(self) -> None:
        integer("clients", self.clients, least=1)
        boolean("replacement", self.replacement)
        choice("probability", self.probability, ("uniform", "size"))
        if self.probability == "size" and not self.replacement:
            hint = ": without replacement, sampling by size has no simple unbiased weights"
            raise OptionError("replacement", "True with probability = 'size'", False, hint)

    def size(self, population: int) -> int:
        """Return the largest number of clients in a round."""
        return self.clients if self.replacement else _at_most(self.clients, population)

    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""
        population = context.population
        if self.probability == "size":
            drawn = context.rng.choice(population, self.clients, p=context.weights)
        elif self.replacement:
            drawn = context.rng.integers(population, size=self.clients)
        else:
            drawn = context.rng.choice(population, self.clients, replace=False, shuffle=False)
        clients, counts = np.unique(drawn, return_counts=True)
        if self.probability == "size":
            return Selection(clients, counts / self.clients)
        return Selection(clients, counts * context.weights[clients] * population / self.clients)


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
    >>> rng = np.random.default_rng()
    >>> context = SelectionContext(1, np.full(5, 0.2), rng, quality=lambda devices: devices)
    >>> RoundRobin(2).select(context).clients
    array([2, 3])
    """

    clients: int

    def __post_init__(self) -> None:
        integer("clients", self.clients, least=1)

    def size(self, population: int) -> int:
        """Return the largest number of clients in a round."""
        return _at_most(self.clients, population)

    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""
        turn = context.t * self.clients + np.arange(self.clients)
        clients = np.sort(turn % context.population)
        return Selection(clients, _scaled_up(context, clients))


@options
@dataclass(frozen=True)
class BestChannels(Participation):
    """The k candidates with the strongest channels; biased where channels differ on average.

    Ties are broken at random.

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
        """Return the largest number of clients in a round."""
        _at_most(self.candidates, population, "candidates")
        return self.clients

    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""
        candidates = _candidates(context, self.candidates)
        clients = candidates[_largest(context.quality(candidates), self.clients, context.rng)]
        return Selection(clients, _scaled_up(context, clients))


@options
@dataclass(frozen=True)
class ProportionalFair(Participation):
    """The k candidates whose channels are strongest relative to a running average.

    Parameters
    ----------
    clients : int
        k, the number of clients per round.
    candidates : int
        Number of devices, drawn anew in each round, whose channels are measured; at least k.
    window : float
        t_c > 1, the window of the running average, in rounds; 10 by default.

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
        """Return the largest number of clients in a round."""
        _at_most(self.candidates, population, "candidates")
        return self.clients

    def select(self, context: SelectionContext) -> Selection:
        """Choose who takes part in a round."""
        candidates = _candidates(context, self.candidates)
        memory = context.memory or NEVER_SERVED
        averages = self._log_averages(context.t, memory, candidates)
        quality = context.quality(candidates)
        with np.errstate(divide="ignore"):
            best = _largest(np.log(quality) - averages, self.clients, context.rng)
        clients, fade = candidates[best], 1 - 1 / self.window
        served = fade * np.exp(averages[best]) + quality[best] / self.window
        others = ~np.isin(memory["device"], clients)
        latest = {
            "device": clients,
            "round": np.full(len(clients), context.t + 1),
            "average": served,
        }
        kept = {name: np.append(memory[name][others], each) for name, each in latest.items()}
        order = np.argsort(kept["device"])
        kept = {name: array[order] for name, array in kept.items()}
        return Selection(clients, _scaled_up(context, clients), kept)

    def _log_averages(
        self, t: int, memory: Mapping[str, NDArray], devices: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ln T_i [n] of these devices: T_i fades from 1, or from when it last took part."""
        since, last = np.full(len(devices), t), np.zeros(len(devices))
        _, here, there = np.intersect1d(
            devices, memory["device"], assume_unique=True, return_indices=True
        )
        since[here] = t - memory["round"][there]
        last[here] = np.log(memory["average"][there])
        return last + since * np.log(1 - 1 / self.window)


NEVER_SERVED: Mapping[str, NDArray] = {
    "device": np.empty(0, np.int64),
    "round": np.empty(0, np.int64),
    "average": np.empty(0),
}
"""The memory of :class:`ProportionalFair` before the first round."""


def _largest(values: NDArray[np.float64], count: int, rng: Rng) -> NDArray[np.int64]:
    """Return the places of the largest values, ascending; ties are broken at random."""
    order = rng.permutation(len(values))
    return np.sort(order[np.argsort(-values[order], kind="stable")[:count]])


def _candidates(context: SelectionContext, count: int) -> NDArray[np.int64]:
    return np.sort(context.rng.choice(context.population, count, replace=False, shuffle=False))


def _scaled_up(context: SelectionContext, clients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (M / k) alpha_i of the clients."""
    return context.weights[clients] * context.population / len(clients)


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
