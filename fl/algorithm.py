"""What an algorithm is: what clients and server do in a round, without radio and without data.

A round goes as follows: ``plan`` decides how long the clients train; they train, and the plan may
watch their updates; ``aggregate`` sends the updates and returns the next model. Both methods are
pure: an algorithm keeps its state in its outcome and finds it in the next round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Reception, Uplink
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, number, real_array


@options
@dataclass(frozen=True)
class Round:
    """What is known when a round begins.

    Parameters
    ----------
    number : int
        t, from 0.
    model : ndarray, [d]
        x_t, read-only.
    uplink : Uplink
        The link, opened for this round.
    weights : ndarray of float64, [m]
        Client weights alpha_i, each client's share of the data.
    max_steps : ndarray of int64, [m]
        Largest number of local steps that each client can take in this round.
    rate : float
        Learning rate eta_t of the local steps.
    state : mapping of str to ndarray
        ``Outcome.state`` of the previous round; empty in the first.
    clients : ndarray of int64, [m], optional
        Global indices of the clients that take part; the first m by default.
    device_state : mapping of str to ndarray [m, ...]
        ``Outcome.device_state`` of the last round in which each client took part, one row per
        client, of zeros for those that take part for the first time; empty in the first round.
    received : ndarray, [m, d], optional
        x_t as each client received it, from which it trains; x_t itself by default.
    population : int, optional
        M, the number of devices, of which m take part; m by default.
    reweighting : float
        What the weights of clients in time have been multiplied by since the round was planned,
        because others were late; 1 by default.
    """

    number: int
    model: NDArray
    uplink: Uplink
    weights: NDArray[np.float64]
    max_steps: NDArray[np.int64]
    rate: float
    state: Mapping[str, NDArray] = field(default_factory=dict)
    clients: NDArray[np.int64] = None  # type: ignore[assignment]  # all, by __post_init__
    device_state: Mapping[str, NDArray] = field(default_factory=dict)
    received: NDArray = None  # type: ignore[assignment]
    population: int = None  # type: ignore[assignment]
    reweighting: float = 1.0

    def __post_init__(self) -> None:
        clients = len(self.weights)
        if self.clients is None:
            assign(self, clients=np.arange(clients))
        if self.received is None:
            assign(self, received=np.broadcast_to(self.model, (clients, *np.shape(self.model))))
        if self.population is None:
            assign(self, population=clients)


@options
@dataclass(frozen=True)
class Plan:
    """How long the clients train, and what is added to their gradients.

    Parameters
    ----------
    steps : array_like of int, [m]
        Largest number of local steps of each client, at least 1.
    gain : float, optional
        Gain announced before the round, by algorithms that do so.
    accept : callable, optional
        ``accept(step, updates)`` says for each client [m] whether its update after ``step`` local
        steps, a row of updates [m, d], is acceptable. By default every client takes all its steps.
    largest : bool
        Which acceptable update to take: the first (False, the default), at which the client stops
        training, or the last (True). A client without any takes the update after all its steps.
    proximal : float
        mu >= 0, which adds mu (y - x_i) to the gradient at a client's model y, where x_i is what
        the client received of x_t; 0 by default.
    drift : array_like, [m, d], optional
        A constant that is added to each client's gradient in every local step; none by default.

    Raises
    ------
    ValueError
        If ``steps`` is not a whole number >= 1 per client, ``proximal`` is negative, or ``drift``
        does not have one row per client.
    """

    steps: NDArray[np.int64]
    gain: float | None = None
    accept: Callable[[int, NDArray], NDArray[np.bool_]] | None = None
    largest: bool = False
    proximal: float = 0.0
    drift: NDArray | None = None

    def __post_init__(self) -> None:
        steps = np.asarray(self.steps)
        if steps.ndim != 1 or steps.dtype.kind not in "iu" or (steps < 1).any():
            raise OptionError("steps", "a whole number >= 1 per client", self.steps)
        assign(self, steps=steps)
        number("proximal", self.proximal, least=0)
        if self.drift is not None:
            drift = real_array("drift", self.drift)
            if drift.ndim != 2 or len(drift) != len(steps):
                got = f"shape {drift.shape}"
                raise OptionError("drift", f"of shape [m, d] with m = {len(steps)}", got=got)
            assign(self, drift=drift)


@options
@dataclass(frozen=True)
class Outcome:
    """The result of a round.

    Parameters
    ----------
    model : ndarray, [d]
        x_{t+1}.
    reception : Reception
        What the uplink returned.
    gain : float
        Common gain of all signals, the paper's beta_t.
    scaled_down : ndarray of bool, [m], optional
        Which clients scaled their signal down to meet their budget; none by default.
    state : mapping of str to array_like
        Numbers, or arrays of them, that the next round finds as arrays in ``Round.state``. They
        are saved in checkpoints.
    device_state : mapping of str to array_like [m, ...]
        Likewise, one row per client; found again in ``Round.device_state``.
    step : float, optional
        The factor c with which ``reception.total``, and therefore its noise, enters the model: the
        next model is c times the total plus terms that do not depend on it. None (the default) if
        no single number describes this, or if it is not known.
    """

    model: NDArray
    reception: Reception
    gain: float
    scaled_down: NDArray[np.bool_] | None = None
    state: Mapping[str, ArrayLike] = field(default_factory=dict)
    device_state: Mapping[str, ArrayLike] = field(default_factory=dict)
    sum_factor: float | None = None


def weighted(updates: NDArray, weights: NDArray[np.float64]) -> NDArray:
    """Return updates [m, d] times one weight per client [m], in the precision of the updates."""
    return weights.astype(updates.dtype)[:, None] * updates


def prepared(uplink: Uplink, signals: NDArray) -> Uplink:
    """Return the uplink with its power control computed for signals [m, d], if it has any.

    For algorithms whose clients scale their signals down once they know the loads; see
    :class:`fl.api.Uplink`.
    """
    make = getattr(uplink, "prepared", None)
    return uplink if make is None else make(signals)


def evenly_spread(current: Round, norms: NDArray[np.float64]) -> NDArray:
    """Return signals [m, d] of these norms [m] whose entries are all equal, to estimate a gain."""
    length = len(current.model)
    entries = (norms / np.sqrt(length)).astype(current.model.dtype)
    return np.broadcast_to(entries[:, None], (len(norms), length))


def sent(current: Round, signals: NDArray, step: float) -> Outcome:
    """Send signals [m, d] with the largest common gain; add ``step`` times their sum to x_t."""
    gain = float(current.uplink.max_gain(signals))
    received = current.uplink.send(signals, gain, weights=current.weights)
    model = current.model + signals.dtype.type(step) * received.total
    return Outcome(model, received, gain, sum_factor=step)


def loads_at(current: Round, gain: float, signals: NDArray) -> NDArray[np.float64]:
    """Return each client's largest ratio of energy to budget at that gain, [m]."""
    loads = current.uplink.load(signals)
    return np.where(loads > 0, loads * gain * gain, 0.0) if np.isfinite(gain) else 0 * loads


def sent_within(
    current: Round, signals: NDArray, gain: float
) -> tuple[Reception, NDArray[np.float64]]:
    """Send signals [m, d] at a gain, scaled down where they exceed a budget.

    Returns the reception and the loads [m] before: where one is above 1, the client scaled down.
    """
    current = replace(current, uplink=prepared(current.uplink, signals))
    loads = loads_at(current, gain, signals)
    factors = (1 / np.sqrt(np.maximum(loads, 1))).astype(signals.dtype)
    fitting = factors[:, None] * signals
    return current.uplink.send(fitting, gain, weights=current.weights), loads


class Algorithm(ABC):
    """The base class of all algorithms; only :meth:`aggregate` must be implemented.

    Examples
    --------
    Plain averaging with the largest common gain:

    >>> class Average(Algorithm):
    ...     def aggregate(self, current, plan, updates, steps):
    ...         signals = weighted(updates, current.weights)
    ...         gain = current.uplink.max_gain(signals)
    ...         received = current.uplink.send(signals, gain, weights=current.weights)
    ...         return Outcome(current.model + received.total, received, gain)
    >>> Average().num_entries(7850)
    7850
    """

    def num_entries(self, size: int) -> int:
        """Return the number of entries that each client sends, with which the link is opened.

        Parameters
        ----------
        size : int
            d, the number of model parameters.

        Returns
        -------
        int
            d by default; an algorithm that compresses sends fewer, one that sends two vectors
            twice as many.
        """
        return size

    def sensitivity(self, current: Round) -> float | None:
        """Return a bound on how much one client can change the sum of the signals in a round.

        :meth:`fl.History.privacy` relies on it.

        Parameters
        ----------
        current : Round
            What is known of the round, clients that are late included.

        Returns
        -------
        float or None
            A bound S_t on the Euclidean norm of everything that any one client sends in the round,
            before the gain, whatever its data: alpha_i C for the largest alpha_i if updates are
            clipped to the norm C. None (the default) if there is no such bound, or if the gain, the
            local steps or the signals of others depend on a client's update.
        """
        return None

    def plan(self, current: Round) -> Plan:
        """Decide how long the clients train; by default each takes all the steps that it can."""
        return Plan(steps=current.max_steps)

    @abstractmethod
    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send the updates and return the next model.

        Parameters
        ----------
        current : Round
            What is known of the round.
        plan : Plan
            What :meth:`plan` returned.
        updates : ndarray, [m, d]
            Differences between each client's model and what it received of x_t.
        steps : ndarray of int64, [m]
            Number of local steps that each client took.

        Returns
        -------
        Outcome
            The next model, and what was received.
        """
