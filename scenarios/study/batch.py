"""Run the cells of a batch; they are trained together, on the same minibatches."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from fl import Acpc, DivergenceWarning, History, Link, Problem, Round, train_together
from fl.api import OpenedDownlink
from fl.checkpoint import CheckpointError
from fl.conformance import check_measured
from fl.constants import estimate_constants
from fl.local_steps import max_steps
from fl.metrics import BOUND, WEIGHT
from fl.rows import Row
from fl.theory import theorem2_of
from links import IdealLink
from links.radio import noise_of
from otafl._base.validation import OptionError, typed
from scenarios.config.cell import Cell
from scenarios.config.parts import Part
from scenarios.errors import user_errors
from scenarios.study.cellfile import CellFile, Variables, variables_of
from scenarios.study.provenance import versions


def check(cells: Iterable[tuple[Cell, str]]) -> None:
    """Plan one round of every distinct cell, to find mistakes before any work is done.

    Parameters
    ----------
    cells : iterable of (Cell, str)
        Cells, and where in the sweep they are, for messages.

    Raises
    ------
    ScenarioError
        Where data, clients and link do not fit together.
    """
    checked = set()
    for cell, where in cells:
        tables = cell.data, cell.model, cell.algorithm, cell.link, cell.training
        identity = repr((*tables, cell.participation, cell.downlink))
        if identity in checked:
            continue
        checked.add(identity)
        with user_errors(cell.all_code(), where):
            _plan_one_round(cell)


def _plan_one_round(cell: Cell) -> None:
    algorithm, link = cell.algorithm.build(), cell.link.build()
    with _full_keys("data", cell.data):
        problem = cell.problem()
    size, population = problem.model.size, problem.num_clients
    options, rng = cell.training.options(), np.random.default_rng(0)
    with _full_keys("participation", cell.participation):
        most = min(cell.participation.build().size(population), population)
        clients = np.arange(population - most, population)  # the last, which a short list lacks
    weights = problem.weights[clients]
    who = {} if len(clients) == population else {"clients": clients}
    with _full_keys("training", cell.training):
        check_measured(problem, options["measure_gradient"])
        sizes = np.array([len(problem.shards[client]) for client in clients])
        batch_size = options["sgd"].batch_size
        limits = max_steps(options["steps"], 0, rng, clients, population, sizes, batch_size)
    end = (options["rounds"] - 1) * options["round_period"]
    downlink = cell.downlink.build()
    if downlink is not None:
        with _full_keys("downlink", cell.downlink):
            for time in (0.0, end):
                opened = downlink.open(len(clients), size, rng, time=time, **who)
                must = "a downlink, whose open returns an object with a method broadcast"
                typed("downlink.kind", opened, OpenedDownlink, must)
    if getattr(link, "engine", "fast") != "fast":
        return  # importing Sionna takes longer than all the rest
    with _full_keys("link", cell.link):
        entries = algorithm.num_entries(size)
        uplink = link.open(len(clients), entries, rng, **who)
        link.open(len(clients), entries, rng, time=end, **who)  # a recording may be too short
    start = np.zeros(size, np.float32)
    rate = options["sgd"].rate_at(0)
    with _full_keys("algorithm", cell.algorithm):
        current = Round(0, start, uplink, weights, limits, rate, {}, clients, population=population)
        algorithm.plan(current)


@contextlib.contextmanager
def _full_keys(table: str, config: Part) -> Iterator[None]:
    """Name the full key in errors about an option of a table."""
    try:
        yield
    except OptionError as error:
        option = error.name.rpartition(".")[2]
        key = option.replace("[", " ").partition(" ")[0]  # of "steps in round 3", "power[2]"
        if key not in type(config).model_fields:
            raise
        raise ValueError(f"{table}.{option} {error.explanation}") from error


def run_cells(
    cells: Sequence[Cell],
    checkpoint: Path | None,
    on_round: Callable[[int, Sequence[Row | None]], None],
) -> list[CellFile]:
    """Train a batch.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that train on the same minibatches.
    checkpoint : Path or None
        Where the state of the batch is kept, if anywhere; training resumes from it if the file
        exists.
    on_round : callable
        Called after each round with its number and the metrics of each run.
    """
    problem = cells[0].problem()
    links = [cell.link.build() for cell in cells]
    train = partial(
        train_together,
        [(cell.algorithm.build(), link) for cell, link in zip(cells, links, strict=True)],
        problem,
        seed=cells[0].seed,
        checkpoint=checkpoint,
        progress=False,
        on_round=on_round,
        **cells[0].options(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DivergenceWarning)  # stored with the result
        try:
            histories = train()
        except CheckpointError:  # damaged, or of another version: start over
            assert checkpoint is not None
            checkpoint.unlink(missing_ok=True)
            histories = train()
    return [
        CellFile(
            cell.settings(),
            variables_of(history) | _bound(cell, history, link, problem),
            history.diverged or "",
            versions(),
            cell.all_code(),
            cell.digest(),
        )
        for cell, history, link in zip(cells, histories, links, strict=True)
    ]


def _bound(cell: Cell, history: History, link: Link, problem: Problem) -> Variables:
    """Return the four terms of Theorem 2 if the gradient was measured and the theorem applies."""
    measured = cell.training.measure_gradient and isinstance(history.algorithm, Acpc)
    everyone = history.weight_metric is WEIGHT
    if not measured or not everyone or isinstance(link, IdealLink):
        return {}
    try:
        constants = estimate_constants(history, problem)
        bound = theorem2_of(history, constants, noise_of(link, problem.model.size).variance)
    except ValueError:
        return {}
    terms = {name: getattr(bound, name.removeprefix("bound_")) for name in BOUND}
    return {name: (BOUND[name].dims, term) for name, term in terms.items()}
