"""One experiment: what does not change over its rounds, the state that does, and the round."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.api import Link, Reception, Slot
from fl.capability import Steps, capability
from fl.data import Dataset
from fl.history import History, Row, row_of, stacked
from fl.local import LARGEST, ClientData, Sgd, Trained, moderate, train_locally
from fl.models import Classifier, Model
from fl.objective import client_gradients
from fl.partition import weights_of
from fl.streams import Purpose, stream

Uplink = Link | Callable[[int], Link]
"""A link, or a function of the round that gives one: for power that changes from round to round."""


class DivergenceWarning(UserWarning):
    """A run has stopped because its model grew beyond all bounds."""


@dataclass(frozen=True)
class Lane:
    """One run under way.

    model : [d], x_t
    memory : what its algorithm keeps
    rows : the metrics of each round
    diverged : why it stopped before its time; empty if it has not
    """

    model: NDArray
    memory: dict[str, NDArray]
    rows: tuple[Row, ...] = ()
    diverged: str = ""


@dataclass(frozen=True)
class State:
    """Everything that the next round depends on, beside the experiment.

    number : t, of the next round
    """

    number: int
    lanes: tuple[Lane, ...]

    @property
    def stopped(self) -> bool:
        return all(lane.diverged for lane in self.lanes)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What does not change over the rounds; see :func:`fl.rounds.train_together`."""

    runs: Sequence[tuple[Algorithm, Uplink]]
    model: Model
    data: Dataset
    clients: ClientData
    sgd: Sgd
    steps: Steps
    seed: int
    round_period: float
    test_every: int
    measure_gradient: bool

    def beginning(self) -> State:
        self._check_classes()
        return State(0, tuple(Lane(self._start, {}) for _ in self.runs))

    def _check_classes(self) -> None:
        """Has the model a score for every label?"""
        if isinstance(self.model, Classifier):
            sample, _ = self.clients.batch_of(self.clients.shards[0][:1])
            classes = self.model.scores(self._start[None, None], sample).shape[-2]
            if classes < self.data.num_classes:
                raise ValueError(
                    f"model = {self.model!r} gives {classes} scores: the labels of the data take "
                    f"{self.data.num_classes}"
                )

    @cached_property
    def _start(self) -> NDArray:
        """[d], x_0."""
        start = np.asarray(self.model.initial(stream(self.seed, 0, Purpose.INITIAL_MODEL)))
        if start.shape != (self.model.size,) or start.dtype not in (np.float32, np.float64):
            raise ValueError(
                f"model = {self.model!r} begins with {start.dtype} of shape {start.shape}: give "
                f"float32 or float64 of shape {(self.model.size,)}"
            )
        return start

    def next(self, state: State) -> State:
        """The state after one round more of every run that has not diverged."""
        going = [k for k, lane in enumerate(state.lanes) if not lane.diverged]
        starts = np.array([state.lanes[k].model for k in going])
        rounds = [self._round(state.number, self.runs[k][1], state.lanes[k]) for k in going]
        plans = [_plan(self.runs[k][0], each) for k, each in zip(going, rounds, strict=True)]
        trained = self._train(state.number, starts, plans)
        gradients = self._squared_gradient_norms(state.number, starts)
        lanes = list(state.lanes)
        for place, k in enumerate(going):
            mine = trained.of(place)
            lane = self._aggregated(lanes[k], self.runs[k][0], rounds[place], plans[place], mine)
            if not lane.diverged:
                lane.rows[-1]["squared_gradient_norm"] = gradients[place]
            lanes[k] = lane
        self._test(state.number, [lanes[k] for k in going if not lanes[k].diverged])
        return State(state.number + 1, tuple(lanes))

    def histories(self, state: State) -> list[History]:
        return [
            History(
                stacked(lane.rows),
                lane.model,
                self._start,
                weights_of(self.clients.shards),
                algorithm,
                self.sgd,
                lane.diverged or None,
            )
            for lane, (algorithm, _) in zip(state.lanes, self.runs, strict=True)
        ]

    def _round(self, number: int, uplink: Uplink, lane: Lane) -> Round:
        clients = self.clients.num_clients
        link = uplink if isinstance(uplink, Link) else uplink(number)
        if not isinstance(link, Link):
            raise ValueError(f"the function given as link gave {link!r} for round {number}")
        slot = link.open(
            clients,
            self.model.size,
            stream(self.seed, number, Purpose.LINK),
            time=number * self.round_period,
            device_rng=stream(self.seed, 0, Purpose.DEVICES),
        )
        _check_slot(link, slot, clients)
        rng = stream(self.seed, number, Purpose.CAPABILITY)
        model = lane.model.view()
        model.flags.writeable = False  # it is that of other runs, too
        return Round(
            number,
            model,
            slot,
            weights_of(self.clients.shards),
            capability(self.steps, number, clients, rng),
            self.sgd.rate_at(number),
            lane.memory,
        )

    def _train(self, number: int, starts: NDArray, plans: list[Plan]) -> Trained:
        rng = stream(self.seed, number, Purpose.MINIBATCHES)
        rate = self.sgd.rate_at(number)
        with np.errstate(over="ignore", invalid="ignore"):  # what diverges is seen afterwards
            return train_locally(self.model, self.clients, self.sgd, rate, starts, plans, rng)

    def _aggregated(
        self, lane: Lane, algorithm: Algorithm, round: Round, plan: Plan, trained: Trained
    ) -> Lane:
        wild = np.flatnonzero(~moderate(trained.updates))
        if len(wild):
            return _diverged(
                lane,
                round,
                f"the models of clients {wild.tolist()} grew beyond {LARGEST:g} within "
                f"{trained.steps[wild].max()} local steps of rate {round.rate:g}",
            )
        outcome = algorithm.aggregate(round, plan, trained.updates, trained.steps)
        if not isinstance(outcome, Outcome):
            raise ValueError(f"{algorithm!r} gave {outcome!r} as aggregate: give an Outcome")
        _check_reception(algorithm, outcome.reception, self.clients.num_clients)
        if np.shape(outcome.model) != lane.model.shape:
            raise ValueError(
                f"{algorithm!r} gave a model of shape {np.shape(outcome.model)}: it must have "
                f"{lane.model.shape}"
            )
        if not moderate(outcome.model):
            finite = np.isfinite(outcome.model).all()
            return _diverged(
                lane,
                round,
                f"what the server received at gain {outcome.gain:g} took its model "
                + (f"beyond {LARGEST:g}" if finite else "to infinity or NaN"),
            )
        row = row_of(round, outcome, trained, lane.rows[-1] if lane.rows else None)
        model = outcome.model.astype(lane.model.dtype, copy=False)
        return Lane(model, _remembered(algorithm, outcome.memory), (*lane.rows, row))

    def _squared_gradient_norms(self, number: int, models: NDArray) -> NDArray:
        """[S], of the gradient over all data, in the rounds in which it is measured."""
        if not self.measure_gradient or (number + 1) % self.test_every:
            return np.full(len(models), np.nan)
        alpha = weights_of(self.clients.shards)
        each = client_gradients(self.model, self.clients, models, self.sgd.weight_decay)
        return np.square(np.tensordot(alpha, each, axes=1)).sum(axis=-1)

    def _test(self, number: int, lanes: list[Lane]) -> None:
        """Adds what the test says to the rows of the round."""
        loss = accuracy = np.full(len(lanes), np.nan)
        if lanes and (number + 1) % self.test_every == 0:
            models = np.array([lane.model for lane in lanes])
            loss, accuracy = self.model.test(models, self._test_features, self.data.y_test)
        for place, lane in enumerate(lanes):
            lane.rows[-1].update(test_loss=loss[place], test_accuracy=accuracy[place])

    @cached_property
    def _test_features(self) -> NDArray:
        return self.model.features(self.data.x_test)


def _check_slot(link: Link, slot: object, clients: int) -> None:
    """Links of one's own are told what they lack."""
    name = type(link).__name__
    if not isinstance(slot, Slot):
        raise ValueError(
            f"{name}.open gave {short(slot)}: give a slot with budget, energy, load, max_gain and "
            "send"
        )
    shape = np.shape(slot.budget)
    if len(shape) != 2 or shape[0] != clients:
        raise ValueError(
            f"{name}.open gave a slot whose budget has shape {shape}: give [m, constraints], such "
            f"as ({clients}, 1)"
        )


def _check_reception(algorithm: Algorithm, reception: object, clients: int) -> None:
    if not isinstance(reception, Reception):
        raise ValueError(
            f"{algorithm!r} has {short(reception)} as reception of its Outcome: give the Reception "
            "of slot.send"
        )
    shape = np.shape(reception.energy)
    if len(shape) != 2 or shape[0] != clients:
        raise ValueError(
            f"a Reception has energy of shape {shape}: give [m, symbols], such as ({clients}, 1)"
        )


def _plan(algorithm: Algorithm, round: Round) -> Plan:
    plan = algorithm.plan(round)
    if not isinstance(plan, Plan):
        raise ValueError(f"{algorithm!r} gave {plan!r} as plan: give a Plan")
    able = round.capability
    if plan.steps.shape != able.shape or (plan.steps > able).any():
        raise ValueError(
            f"{algorithm!r} plans steps = {plan.steps!r} in round {round.number}: the clients can "
            f"do {able!r}"
        )
    return plan


def _diverged(lane: Lane, round: Round, why: str) -> Lane:
    """The lane as it was before the round, stopped."""
    message = f"the run diverged in round {round.number}: {why}"
    warnings.warn(message, DivergenceWarning, stacklevel=2)
    return replace(lane, diverged=message)


def _remembered(algorithm: Algorithm, memory: Mapping[str, ArrayLike]) -> dict[str, NDArray]:
    """As it will be found after a resume, too: arrays of numbers."""
    arrays = {name: np.asarray(value) for name, value in memory.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise ValueError(
                f"{algorithm!r} wants to remember {name} = {memory[name]!r}: give numbers or "
                "arrays of them"
            )
    return arrays
