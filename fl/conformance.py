"""Check that user-defined algorithms and links return what training relies on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.api import Broadcast, Downlink, Link, OpenedDownlink, Reception, Uplink
from fl.participation import Participation, Selection, SelectionContext
from fl.population import Population
from fl.problem import Problem
from otafl._base.validation import OptionError, number, typed

MOST_DEVICE_STATE = 2 * 2**30  # [bytes]

LinkSource = Link | Callable[[int], Link]
"""A link, or a function of the round that returns one, for power that changes over the rounds."""


def check_runs(runs: Sequence[tuple[Algorithm, LinkSource]]) -> None:
    """Check that ``runs`` are pairs of an algorithm and a link."""
    if not runs:
        raise OptionError("runs", "at least one pair (algorithm, link)", runs)
    for run in runs:
        if not isinstance(run, tuple | list) or len(run) != 2:
            raise OptionError("runs", "pairs (algorithm, link)", runs)
        algorithm, link = run
        must = "an fl.Algorithm, such as Cotaf(), followed by the link"
        typed("algorithm", algorithm, Algorithm, must)
        if isinstance(link, type) or not (isinstance(link, Link) or callable(link)):
            must = "a link, such as GaussianLink(), or a function of the round that returns one"
            raise OptionError("link", must, link)


def check_measured(problem: Problem, measure_gradient: bool) -> None:
    """Refuse to measure the gradient of a population, which would draw the data of all devices."""
    if measure_gradient and isinstance(problem.shards, Population):
        must = "False with a Population: the full gradient needs the samples of all devices"
        raise OptionError("measure_gradient", must, measure_gradient)


def link_of_round(source: LinkSource, number: int) -> Link:
    """Return the link of round ``number``."""
    link = source if isinstance(source, Link) else source(number)
    typed(f"the link of round {number}", link, Link, "an object with a method open")
    return link


def check_uplink(link: Link, uplink: Any, num_clients: int) -> None:
    """Check that a user-defined link returns a valid uplink."""
    name = type(link).__name__
    must = "an uplink with budget, energy, load, max_gain and send"
    typed(f"the result of {name}.open", uplink, Uplink, must)
    _check_rows(f"the budget of {name}'s uplink", uplink.budget, num_clients, "constraints")


def checked_selection(participation: Participation, context: SelectionContext) -> Selection:
    """Return the clients of a round, as a selection chose them."""
    chosen = participation.select(context)
    name = f"the result of {participation!r}.select"
    typed(name, chosen, Selection, "a Selection(clients, weights)")
    clients, weights = np.asarray(chosen.clients), np.asarray(chosen.weights)
    if (
        clients.ndim != 1
        or clients.dtype.kind not in "iu"
        or not len(clients)
        or (np.diff(clients) <= 0).any()
        or clients[0] < 0
        or clients[-1] >= context.population
    ):
        must = f"different indices from 0 to {context.population - 1}, ascending"
        raise OptionError(f"the clients in {name}", must, chosen.clients)
    if weights.shape != clients.shape or not np.isfinite(weights).all() or (weights <= 0).any():
        must = "a finite number > 0 for each client"
        raise OptionError(f"the weights in {name}", must, chosen.weights)
    return chosen


def checked_quality(link: Link, uplink: Any, candidates: int) -> NDArray[np.float64]:
    """Return the mean powers [n] of the channels of candidates, as their uplink reports them."""
    quality = np.asarray(getattr(uplink, "quality", np.empty(0)), np.float64)
    valid = quality.shape == (candidates,) and np.isfinite(quality).all() and (quality >= 0).all()
    if not valid or not callable(getattr(uplink, "only", None)):
        raise ValueError(
            f"{type(link).__name__} cannot select clients by channel: its uplink must have an "
            "attribute quality, the mean power of each client's channel, and a method only, which "
            "returns the uplink of some clients"
        )
    return quality


def checked_broadcast(
    downlink: Downlink, opened: Any, model: NDArray, num_clients: int
) -> Broadcast:
    """Return what the clients received of a model [d]."""
    name = type(downlink).__name__
    must = "a downlink with a method broadcast"
    typed(f"the result of {name}.open", opened, OpenedDownlink, must)
    broadcast = opened.broadcast(model)
    must = "a Broadcast(received, diagnostics)"
    typed(f"the result of {name}'s broadcast", broadcast, Broadcast, must)
    expected = (num_clients, len(model))
    if np.shape(broadcast.received) != expected:
        shape = np.shape(broadcast.received)
        raise OptionError(f"what clients receive over {name}", f"of shape {expected}", shape)
    received = np.asarray(broadcast.received).astype(model.dtype, copy=False)
    return Broadcast(received, broadcast.diagnostics)


def checked_plan(algorithm: Algorithm, current: Round) -> Plan:
    """Return the algorithm's plan for a round."""
    plan = algorithm.plan(current)
    if not isinstance(plan, Plan):
        raise OptionError(f"the result of {algorithm!r}.plan", "a Plan", plan)
    most = current.max_steps
    if plan.steps.shape != most.shape or (plan.steps > most).any():
        name = f"the steps that {algorithm!r} plans in round {current.number}"
        raise OptionError(name, f"at most {most!r}", plan.steps)
    expected = (len(most), len(current.model))
    if plan.drift is not None and plan.drift.shape != expected:
        name = f"the drift that {algorithm!r} plans"
        raise OptionError(name, f"of shape {expected}", got=f"shape {plan.drift.shape}")
    return plan


def checked_sensitivity(algorithm: Algorithm, current: Round) -> float:
    """Return the algorithm's bound on what a client sends in a round, NaN if it has none."""
    bound = algorithm.sensitivity(current)
    if bound is None:
        return float("nan")
    name = f"the result of {algorithm!r}.sensitivity"
    return number(name, bound, least=0)


def check_outcome(algorithm: Algorithm, outcome: Any, current: Round) -> None:
    """Check the type and the shapes of what ``aggregate`` returned."""
    if not isinstance(outcome, Outcome):
        raise OptionError(f"the result of {algorithm!r}.aggregate", "an Outcome", outcome)
    reception, shape = outcome.reception, np.shape(outcome.model)
    if not isinstance(reception, Reception):
        name = f"the reception in the Outcome of {algorithm!r}"
        raise OptionError(name, "the Reception that uplink.send returned", reception)
    _check_rows("the energy of a Reception", reception.energy, len(current.weights), "symbols")
    if shape != current.model.shape:
        name = f"the model in the Outcome of {algorithm!r}"
        raise OptionError(name, f"of shape {current.model.shape}", shape)


def _check_rows(name: str, array: NDArray, num_clients: int, columns: str) -> None:
    """Check that an array is two-dimensional, with a row per client."""
    shape = np.shape(array)
    if len(shape) != 2 or shape[0] != num_clients:
        raise OptionError(name, f"of shape [m, {columns}], such as ({num_clients}, 1)", shape)


def check_airtime(
    opened: Sequence[Any], diagnostics: Sequence[Mapping[str, Any]], number: int, period: float
) -> None:
    """Refuse a round that lasts longer than ``period`` on a channel that moves.

    The next round would meet its channels before this one has ended. Only an uplink or a downlink
    that says so by its attribute ``moving`` has channels that depend on time; otherwise the round's
    duration is not limited.

    Parameters
    ----------
    opened : sequence of Uplink or OpenedDownlink
        The links of the round.
    diagnostics : sequence of mapping
        What they report.
    number : int
        The round.
    period : float
        ``round_period``.
    """
    reports = [each.get(name) for each in diagnostics for name in ("airtime", "downlink_airtime")]
    airtime = float(sum(np.max(each) for each in reports if each is not None))
    if airtime > period and any(getattr(each, "moving", False) for each in opened):
        must = f"at least {airtime:.6g} s, the airtime of round {number}"
        hint = ": the channel moves, and the next round would begin before this one has ended"
        raise OptionError("round_period", must, period, hint)


def check_memory(algorithm: Algorithm, device_state: Mapping[str, NDArray], devices: int) -> None:
    """Refuse a run whose state per device may outgrow the memory."""
    total = devices * sum(array.nbytes // len(array) for array in device_state.values())
    if total > MOST_DEVICE_STATE:
        raise ValueError(
            f"the state per device of {algorithm!r} would take {total / 2**30:.1f} GiB for "
            f"{devices} devices that may take part, more than {MOST_DEVICE_STATE / 2**30:g} GiB: "
            "let fewer devices take part, or train for fewer rounds"
        )


def state_arrays(
    algorithm: Algorithm, state: Mapping[str, ArrayLike], num_clients: int | None = None
) -> dict[str, NDArray]:
    """Return an algorithm's state as arrays, the form that a checkpoint restores.

    With ``num_clients`` it is the state per device, arrays [num_clients, ...].
    """
    arrays = {name: np.asarray(value) for name, value in state.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            must = "a number or an array of numbers"
            raise OptionError(f"state[{name!r}] of {algorithm!r}", must, state[name])
        if num_clients is not None and array.shape[:1] != (num_clients,):
            must = f"of shape [m, ...] with m = {num_clients}"
            raise OptionError(f"device_state[{name!r}] of {algorithm!r}", must, array.shape)
    return arrays
