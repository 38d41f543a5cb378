"""One round of several runs: what does not change over the rounds, and the state that does.

Runs that differ only in algorithm or link can be trained together: they share the minibatches, and
each has the result that it would have alone, up to the rounding of larger matrix products.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fl import conformance
from fl.algorithm import Algorithm, Plan, Round
from fl.api import Downlink
from fl.client_data import ClientData
from fl.conformance import LinkSource
from fl.deadline import Deadline, late_clients, nobody_sends, without_late
from fl.device_state import DeviceState
from fl.history import History
from fl.local import LARGEST, Trained, moderate, train_locally
from fl.local_steps import Steps
from fl.minibatches import Rngs
from fl.models import Classifier
from fl.objective import client_gradients
from fl.opening import Opened, open_round
from fl.participation import Everyone, Participation
from fl.problem import Problem
from fl.rows import Row, round_metrics, stack_rows
from fl.sgd import Sgd
from fl.streams import Purpose, client_streams, stream
from otafl._base.validation import OutOfRangeError

TESTS = ("squared_gradient_norm", "test_loss", "test_accuracy")
"""The metrics of rounds with a test."""


class DivergenceWarning(UserWarning):
    """A run has stopped because its model diverged."""


@dataclass(frozen=True)
class RunState:
    """The state of one run between two rounds.

    Parameters
    ----------
    model : ndarray, [d]
        x_t.
    state : mapping of str to ndarray
        The algorithm's state.
    device_state : DeviceState
        The algorithm's state per device.
    selection : mapping of str to ndarray
        The memory of the selection of clients.
    rows : tuple of dict
        Metrics of each round.
    diverged : str
        Why the run stopped early; empty if it did not.
    """

    model: NDArray
    state: Mapping[str, NDArray] = field(default_factory=dict)
    device_state: DeviceState = field(default_factory=DeviceState)
    selection: Mapping[str, NDArray] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    diverged: str = ""


@dataclass(frozen=True)
class State:
    """Everything that the next round depends on, apart from the experiment.

    Parameters
    ----------
    number : int
        t of the next round.
    runs : tuple of RunState
        One per run.
    """

    number: int
    runs: tuple[RunState, ...]

    @property
    def stopped(self) -> bool:
        """Whether every run has diverged."""
        return all(run.diverged for run in self.runs)


@dataclass(frozen=True)
class Experiment:
    """What does not change over the rounds; as :func:`fl.train_together` takes it."""

    runs: Sequence[tuple[Algorithm, LinkSource]]
    problem: Problem
    rounds: int
    sgd: Sgd
    steps: Steps
    participation: Participation
    deadline: Deadline | None
    downlink: Downlink | None
    seed: int
    round_period: float
    test_every: int
    measure_gradient: bool

    @cached_property
    def clients(self) -> ClientData:
        """The training samples of each client."""
        return ClientData.of(self.problem)

    @cached_property
    def _start(self) -> NDArray:
        """x_0, [d]."""
        return self.problem.initial_model(stream(self.seed, 0, Purpose.INITIAL_MODEL))

    @cached_property
    def _test_features(self) -> NDArray:
        return self.problem.model.features(self.problem.data.x_test)

    def initial_state(self) -> State:
        """Return the state before the first round."""
        model, clients = self.problem.model, self.clients
        if isinstance(model, Classifier):
            sample, _ = clients.batch_of(clients.shards[0][:1])
            self.problem.check_scores(model.scores(self._start[None, None], sample).shape[-2])
        return State(0, tuple(RunState(self._start) for _ in self.runs))

    def retest(self, state: State) -> None:
        """Make the tests of a saved state those of this experiment, which may be of another length.

        They can differ in the last round only: a run that ended there has tested it, and one that
        was interrupted there may not have. In the latter case the gradient remains NaN, because
        the model before the round was not saved.
        """
        number = state.number - 1
        last = [run for run in state.runs if run.rows and len(run.rows) == state.number]
        if not self._tests(number):
            for run in last:
                run.rows[-1].update(dict.fromkeys(TESTS, np.array(np.nan)))
        elif any(np.isnan(run.rows[-1]["test_loss"]) for run in last):
            self._test(number, last)

    def next(self, state: State) -> State:
        """Return the state after one more round of every run that has not diverged."""
        runs, going = list(state.runs), []
        opened, plans = [], []  # a plan needs the uplink, and local training the plans of all runs
        for k, run in enumerate(state.runs):
            if run.diverged:
                continue
            algorithm, source = self.runs[k]
            begun = open_round(self, state.number, algorithm, source, run)
            runs[k] = replace(run, selection=begun.selection)
            try:
                plans.append(conformance.checked_plan(algorithm, begun.current))
            except OutOfRangeError as error:
                runs[k] = _diverged(run, begun.current, str(error))
                continue
            opened.append(begun)
            going.append(k)
        if not going:
            return State(state.number + 1, tuple(runs))
        trained = self._train(state.number, [begun.current for begun in opened], plans)
        gradients = self._squared_gradient_norms(
            state.number, np.array([runs[k].model for k in going])
        )
        for place, k in enumerate(going):
            mine = opened[place], plans[place], trained[place]
            run = self._aggregated(runs[k], self.runs[k][0], *mine)
            if not run.diverged:
                run.rows[-1]["squared_gradient_norm"] = gradients[place]
            runs[k] = run
        self._test(state.number, [runs[k] for k in going if not runs[k].diverged])
        return State(state.number + 1, tuple(runs))

    def histories(self, state: State) -> list[History]:
        """Return the record of each run."""
        return [
            History(
                stack_rows(run.rows),
                run.model,
                self._start,
                self.problem.weights,
                algorithm,
                self.sgd,
                run.diverged or None,
            )
            for run, (algorithm, _) in zip(state.runs, self.runs, strict=True)
        ]

    def _train(self, number: int, opened: list[Round], plans: list[Plan]) -> list[Trained]:
        """Train the clients of every run; runs with the same clients share their minibatches."""
        together: dict[bytes, list[int]] = defaultdict(list)
        for place, current in enumerate(opened):
            together[current.clients.tobytes()].append(place)
        results: dict[int, Trained] = {}
        rate, model = self.sgd.rate_at(number), self.problem.model
        for places in together.values():
            clients = opened[places[0]].clients
            starts = np.array([self._start_of(opened[place]) for place in places])
            mine = [plans[place] for place in places]
            with np.errstate(over="ignore", invalid="ignore"):  # divergence is detected afterwards
                trained = train_locally(
                    model,
                    self.data_of(clients),
                    self.sgd,
                    rate,
                    starts,
                    mine,
                    self._minibatch_rngs(number, clients),
                )
            results |= {place: trained.of(run) for run, place in enumerate(places)}
        return [results[place] for place in range(len(opened))]

    def _start_of(self, current: Round) -> NDArray:
        """Return where clients start: one model [d], or one per client [m, d]."""
        return current.model if self.downlink is None else current.received

    def data_of(self, clients: NDArray[np.int64]) -> ClientData:
        """Return the samples of the clients of a round."""
        if isinstance(self.participation, Everyone):
            return self.clients
        key = clients.tobytes()
        if key not in self._latest:
            self._latest.clear()
            self._latest[key] = self.clients.of_clients(clients)
        return self._latest[key]

    @cached_property
    def _latest(self) -> dict[bytes, ClientData]:
        """The samples of the latest clients, as a population draws them anew each time."""
        return {}

    def _minibatch_rngs(self, number: int, clients: NDArray[np.int64]) -> Rngs:
        if isinstance(self.participation, Everyone) and self.sgd.replacement:
            return stream(self.seed, number, Purpose.MINIBATCHES)
        return client_streams(self.seed, number, Purpose.MINIBATCHES, clients.tolist())

    def _aggregated(
        self, run: RunState, algorithm: Algorithm, begun: Opened, plan: Plan, trained: Trained
    ) -> RunState:
        """Return the run after its updates have been sent and aggregated."""
        current = begun.current
        wild = np.flatnonzero(~moderate(trained.updates))
        if len(wild):
            why = (
                f"the models of clients {current.clients[wild].tolist()} grew beyond {LARGEST:g} "
                f"within {trained.steps[wild].max()} local steps at learning rate {current.rate:g}"
            )
            return _diverged(run, current, why)
        late = late_clients(self.deadline, self.seed, current, trained.steps)
        current, updates = without_late(current, trained.updates, late)
        if late.all():
            outcome = nobody_sends(current)
        else:
            try:
                outcome = algorithm.aggregate(current, plan, updates, trained.steps)
            except OutOfRangeError as error:
                return _diverged(run, current, str(error))
        conformance.check_outcome(algorithm, outcome, current)
        links = (current.uplink, begun.downlink)
        reports = (outcome.reception.diagnostics, begun.diagnostics)
        conformance.check_airtime(links, reports, current.number, self.round_period)
        if not moderate(outcome.model):
            finite = np.isfinite(outcome.model).all()
            where = f"beyond {LARGEST:g}" if finite else "to infinity or NaN"
            why = f"what the server received at gain {outcome.gain:g} took its model {where}"
            return _diverged(run, current, why)
        sensitivity = conformance.checked_sensitivity(algorithm, current)
        row = round_metrics(
            current, outcome, trained, run.rows, late, begun.diagnostics, sensitivity
        )
        device_state = conformance.state_arrays(
            algorithm, outcome.device_state, len(current.weights)
        )
        conformance.check_memory(algorithm, device_state, self.most_devices)
        in_time = {name: array[~late] for name, array in device_state.items()}
        return RunState(
            outcome.model.astype(run.model.dtype, copy=False),
            conformance.state_arrays(algorithm, outcome.state),
            run.device_state.updated(current.clients[~late], in_time),
            run.selection,
            (*run.rows, row),
        )

    @property
    def most_devices(self) -> int:
        """The largest number of devices that may take part in a run."""
        population = self.problem.num_clients
        return min(population, self.rounds * self.participation.size(population))

    def _tests(self, number: int) -> bool:
        """Return whether round ``number`` is tested."""
        return (number + 1) % self.test_every == 0 or number + 1 == self.rounds

    def _squared_gradient_norms(self, number: int, models: NDArray) -> NDArray:
        """Return ||grad F||^2 over all data [S], NaN in rounds in which it is not measured."""
        if not (self.measure_gradient and self._tests(number)):
            return np.full(len(models), np.nan)
        decay = self.sgd.weight_decay
        each = client_gradients(self.problem.model, self.clients, models, decay)
        return np.square(np.tensordot(self.problem.weights, each, axes=1)).sum(axis=-1)

    def _test(self, number: int, runs: list[RunState]) -> None:
        """Add loss and accuracy on the test set to the rows of the round."""
        loss = accuracy = np.full(len(runs), np.nan)
        if runs and self._tests(number):
            models = np.array([run.model for run in runs])
            labels = self.problem.data.y_test
            loss, accuracy = self.problem.model.test(models, self._test_features, labels)
        for place, run in enumerate(runs):
            run.rows[-1].update(test_loss=loss[place], test_accuracy=accuracy[place])


def _diverged(run: RunState, current: Round, why: str) -> RunState:
    """Return the run as it was before the round, stopped."""
    message = f"the run diverged in round {current.number}: {why}"
    warnings.warn(message, DivergenceWarning, stacklevel=2)
    return replace(run, diverged=message)
