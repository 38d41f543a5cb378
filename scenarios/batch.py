"""Running cells: those of a batch train together, on the same minibatches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from fl import Acpc, DivergenceWarning, History, Link, Round, train_together
from fl.capability import capability
from fl.checkpoint import CheckpointError
from fl.constants import estimate_constants
from fl.history import Row
from fl.partition import weights_of
from fl.theory import theorem2_of
from scenarios.cellfile import CellFile, Variables, variables_of
from scenarios.library import ScenarioError
from scenarios.provenance import made_with
from scenarios.scenario import Scenario
from scenarios.tables import Cell, Problem


def check(scenario: Scenario) -> None:
    """Refuse what only shows when data, clients and links come together, before any work."""
    checked = set()
    for number, cell in enumerate(scenario.cells):
        identity = repr((cell.data, cell.model, cell.algorithm, cell.link, cell.training))
        if identity in checked:
            continue
        checked.add(identity)
        try:
            _plan_one_round(cell)
        except (ValueError, OSError, RuntimeError, MemoryError, OverflowError) as error:
            where = ", ".join(f"{k} = {v}" for k, v in scenario.labels_of(number).items())
            raise ScenarioError(f"{error}" + (f" (at {where})" if where else "")) from error


def _plan_one_round(cell: Cell) -> None:
    model, _, shards = cell.problem()
    options, rng = cell.training.options(), np.random.default_rng(0)
    able = capability(options["steps"], 0, len(shards), rng)
    link = cell.link.build()
    if getattr(link, "engine", "fast") != "fast":
        return  # importing Sionna takes longer than all the rest
    slot = link.open(len(shards), model.size, rng)
    start = np.zeros(model.size, np.float32)
    rate = options["sgd"].rate_at(0)
    cell.algorithm.build().plan(Round(0, start, slot, weights_of(shards), able, rate))


def run_cells(
    cells: Sequence[Cell],
    checkpoint: Path,
    on_round: Callable[[int, Sequence[Row | None]], None],
) -> list[CellFile]:
    """Train a batch; with a checkpoint on the disk, from there on."""
    problem = cells[0].problem()
    links = [cell.link.build() for cell in cells]
    train = partial(
        train_together,
        [(cell.algorithm.build(), link) for cell, link in zip(cells, links, strict=True)],
        problem.data,
        problem.shards,
        model=problem.model,
        seed=cells[0].seed,
        checkpoint=checkpoint,
        progress=False,
        on_round=on_round,
        **cells[0].training.options(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DivergenceWarning)  # kept with the result
        try:
            histories = train()
        except CheckpointError:  # damaged, or of another version: from the beginning, then
            checkpoint.unlink(missing_ok=True)
            histories = train()
    return [
        CellFile(
            cell.settings(),
            variables_of(history) | _bound(cell, history, link, problem),
            history.diverged or "",
            made_with(),
        )
        for cell, history, link in zip(cells, histories, links, strict=True)
    ]


def _bound(cell: Cell, history: History, link: Link, problem: Problem) -> Variables:
    """The four terms of Theorem 2 where the gradient was measured, if the theorem applies."""
    noise = getattr(link, "noise", None)
    measured = cell.training.measure_gradient and isinstance(history.algorithm, Acpc)
    if not measured or noise is None:
        return {}
    try:
        constants = estimate_constants(history, *problem)
        bound = theorem2_of(history, constants, float(noise(problem.model.size).variance))
    except ValueError:
        return {}
    return {f"bound_{name}": (("round",), term) for name, term in vars(bound).items()}
