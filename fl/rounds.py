"""The round loop: broadcast, train, send, aggregate, measure.

Runs that differ in algorithm or link alone can be trained together: they share the data, and each
gives what it would give alone, to the rounding of matrix products of another shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from reprlib import repr as short
from typing import Any

from fl.algorithm import Algorithm
from fl.api import Link
from fl.capability import Steps
from fl.checks import Count, CountFromZero, NotNegative, checked
from fl.data import Dataset
from fl.experiment import Experiment, Uplink
from fl.history import History, Row
from fl.local import ClientData, Sgd
from fl.models import LogisticRegression, Model
from fl.partition import Shards
from fl.progress import progress_line
from fl.saving import Saver


def train(
    algorithm: Algorithm, link: Uplink, data: Dataset, shards: Shards, **options: Any
) -> History:
    """Train one model; the options are those of :func:`train_together`.

    Examples
    --------
    >>> import numpy as np
    >>> from fl import Cotaf, Sgd, quadratic_problem, train
    >>> from links import IdealLink
    >>> two = quadratic_problem(np.ones((2, 1, 1)), [[1.0], [3.0]])
    >>> run = train(Cotaf(), IdealLink(), two.data, two.shards, model=two.model, rounds=50,
    ...             steps=1, sgd=Sgd(rate=0.5, batch_size=None))
    >>> print(run.model)
    [2.]
    """
    return train_together([(algorithm, link)], data, shards, **options)[0]


def train_together(
    runs: Sequence[tuple[Algorithm, Uplink]],
    data: Dataset,
    shards: Shards,
    *,
    rounds: int,
    model: Model | None = None,
    sgd: Sgd | None = None,
    steps: Steps = 10,
    seed: int = 0,
    round_period: float = 0.1,
    test_every: int = 1,
    measure_gradient: bool = False,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    on_round: Callable[[int, Sequence[Row | None]], None] | None = None,
) -> list[History]:
    """Train several models on the same minibatches, each with its own algorithm and link.

    runs : pairs of an algorithm and a link, or a function of the round that gives a link
    shards : the samples of each client, from a partition
    rounds : how many, counted from the beginning of the run
    model : by default logistic regression
    sgd : how clients train
    steps : the most local steps that each client can do in a round: one number, one a client, or
        a function of (round, number of clients, rng) that gives those
    seed : of everything that is drawn
    round_period : from the beginning of one round to that of the next [s]
    test_every : rounds between tests; the last round is tested if it divides their number
    measure_gradient : also the gradient over all data, in the rounds with a test
    checkpoint : a file; the state is saved there twice a minute, when interrupted, and at the end,
        and a run that finds it goes on from there
    progress : show a line with the state, on terminals
    on_round : called after each round with its number and the metrics of each run, None for those
        that have diverged
    """
    checked("rounds", rounds, Count)
    checked("seed", seed, CountFromZero)
    checked("round_period", round_period, NotNegative)
    checked("test_every", test_every, Count)
    sgd = Sgd() if sgd is None else sgd
    _check(runs, data, model, sgd)
    model = _logistic_regression(data) if model is None else model
    experiment = Experiment(
        runs=list(runs),
        model=model,
        data=data,
        clients=ClientData(model, data, shards),
        sgd=sgd,
        steps=steps,
        seed=seed,
        round_period=round_period,
        test_every=test_every,
        measure_gradient=measure_gradient,
    )
    state = experiment.beginning()
    saver = None
    if checkpoint is not None:
        saver = Saver(Path(checkpoint), experiment)
        state = saver.load(state)
        if state.number > rounds:
            raise ValueError(
                f"rounds = {rounds} is not allowed: checkpoint {checkpoint} has {state.number}"
            )
    try:
        with progress_line("training", state.number, rounds, progress) as show:
            while state.number < rounds and not state.stopped:
                state = experiment.next(state)
                rows = [None if lane.diverged else lane.rows[-1] for lane in state.lanes]
                show(state.number, _note(rows))
                if on_round is not None:
                    on_round(state.number - 1, rows)
                if saver is not None:
                    saver.save_now_and_then(state)
    finally:
        if saver is not None:
            saver.save(state)
    return experiment.histories(state)


def _check(
    runs: Sequence[tuple[Algorithm, Uplink]], data: Dataset, model: Model | None, sgd: Sgd
) -> None:
    """Are they what they are taken for?"""
    if not runs:
        raise ValueError("runs are empty: give at least one algorithm with its link")
    for run in runs:
        if not isinstance(run, tuple | list) or len(run) != 2:
            raise ValueError(f"runs = {runs!r} is not allowed: give pairs (algorithm, link)")
        algorithm, uplink = run
        if not isinstance(algorithm, Algorithm):
            raise ValueError(
                f"algorithm = {short(algorithm)} is not allowed: give an fl.Algorithm, such as "
                "Cotaf(), and the link after it"
            )
        if isinstance(uplink, type) or not (isinstance(uplink, Link) or callable(uplink)):
            raise ValueError(
                f"link = {short(uplink)} is not allowed: give one such as GaussianLink(), an "
                "object with a method open, or a function of the round that gives one"
            )
    if not isinstance(data, Dataset):
        raise ValueError(f"data = {short(data)} is not allowed: give what load_dataset gives")
    if not isinstance(sgd, Sgd):
        raise ValueError(f"sgd = {sgd!r} is not allowed: give one such as Sgd(rate=0.1)")
    if isinstance(model, type) or not isinstance(model, Model | None):
        raise ValueError(
            f"model = {model!r} is not allowed: give one such as Mlp(784, 10), "
            "or KerasModel(network)"
        )


def _logistic_regression(data: Dataset) -> LogisticRegression:
    return LogisticRegression(math.prod(data.sample_shape), data.num_classes)


def _note(rows: Sequence[Row | None]) -> str:
    """What the line shows beside its bar: the accuracies of those that were tested."""
    accuracies = [float(row["test_accuracy"]) for row in rows if row is not None]
    return "  ".join(f"{each:.1%}" for each in accuracies if not math.isnan(each))
