"""Training: the loop over rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from fl.algorithm import Algorithm
from fl.api import Downlink
from fl.checkpoint import Checkpoint
from fl.conformance import LinkSource, check_measured, check_runs
from fl.deadline import Deadline
from fl.experiment import Experiment
from fl.history import History
from fl.local_steps import Steps
from fl.participation import Everyone, Participation
from fl.problem import Problem
from fl.progress import progress_line
from fl.rows import Row
from fl.sgd import Sgd
from otafl._base.names import check_names
from otafl._base.validation import OptionError, boolean, integer, number, typed

OnRound = Callable[[int, Sequence[Row | None]], None]

SGD = Sgd()
EVERYONE = Everyone()
ELSEWHERE = {
    **dict.fromkeys(("lr", "rate", "learning_rate"), "sgd=Sgd(rate=...)"),
    **{name: f"sgd=Sgd({name}=...)" for name in ("batch_size", "weight_decay", "momentum")},
    **dict.fromkeys(("epochs", "num_rounds"), "rounds=..."),
    **dict.fromkeys(("local_epochs", "local_steps", "max_steps"), "steps=..."),
    **dict.fromkeys(("model", "data", "shards"), "problem=Problem(model, data, shards)"),
}
"""What to write instead of names that users bring from elsewhere."""


_names_checked = partial(check_names, aliases=ELSEWHERE)


@_names_checked
def train_together(
    runs: Sequence[tuple[Algorithm, LinkSource]],
    problem: Problem,
    *,
    rounds: int,
    sgd: Sgd = SGD,
    steps: Steps = 10,
    participation: Participation = EVERYONE,
    deadline: Deadline | None = None,
    downlink: Downlink | None = None,
    seed: int = 0,
    round_period: float = 0.1,
    test_every: int = 1,
    measure_gradient: bool = False,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    on_round: OnRound | None = None,
) -> list[History]:
    """Train several models on the same minibatches, each with its own algorithm and link.

    Each run has the result that it would have alone, up to the rounding of larger matrix products.

    Parameters
    ----------
    runs : sequence of (Algorithm, Link or callable)
        The algorithm and the link of each run.
    problem : Problem
        Model, data and shards, the same for all runs.
    rounds, sgd, steps, participation, deadline, downlink
        The same for all runs; see :func:`train`.
    seed, round_period, test_every, measure_gradient
        The same for all runs; see :func:`train`.
    checkpoint, progress, on_round
        For all runs together; see :func:`train`.

    Returns
    -------
    list of History
        One per run.

    Raises
    ------
    ValueError
        As in :func:`train`.

    Examples
    --------
    >>> import numpy as np
    >>> from fl import Cotaf, FedNova, Sgd, quadratic_problem, train_together
    >>> from links import IdealLink
    >>> two = quadratic_problem(np.ones((2, 1, 1)), [[1.0], [3.0]])
    >>> runs = [(Cotaf(), IdealLink()), (FedNova(), IdealLink())]
    >>> for history in train_together(runs, two, rounds=3, sgd=Sgd(0.5, batch_size=None)):
    ...     print(history.model.round(3))
    [2.]
    [2.]
    """
    integer("rounds", rounds, least=1)
    integer("seed", seed, least=0)
    number("round_period", round_period, least=0)
    integer("test_every", test_every, least=1)
    boolean("measure_gradient", measure_gradient)
    check_runs(runs)
    typed("problem", problem, Problem, "a Problem(model, data, shards)")
    check_measured(problem, measure_gradient)
    typed("sgd", sgd, Sgd, "an Sgd, such as Sgd(rate=0.1)")
    must = "a selection of clients, such as RandomClients(20)"
    typed("participation", participation, Participation, must)
    participation.size(problem.num_clients)
    typed("deadline", deadline, Deadline | None, "a Deadline(seconds, step_time), or None")
    typed("downlink", downlink, Downlink | None, "a downlink, such as GaussianDownlink(), or None")
    experiment = Experiment(
        list(runs),
        problem,
        rounds,
        sgd,
        steps,
        participation,
        deadline,
        downlink,
        seed,
        round_period,
        test_every,
        measure_gradient,
    )
    state = experiment.initial_state()
    file = None
    if checkpoint is not None:
        file = Checkpoint(Path(checkpoint), experiment)
        state = file.load(state)
        if state.number > rounds:
            must = f"at least {state.number}, the number of rounds in checkpoint {checkpoint}"
            raise OptionError("rounds", must, rounds)
    try:
        with (
            threadpool_limits(1, "blas"),  # more threads are slower with matrices this small
            progress_line("training", state.number, rounds, progress) as show,
        ):
            experiment.retest(state)
            while state.number < rounds and not state.stopped:
                state = experiment.next(state)
                rows = [None if run.diverged else run.rows[-1] for run in state.runs]
                show(state.number, _note(rows))
                if on_round is not None:
                    on_round(state.number - 1, rows)
                if file is not None:
                    file.save_if_due(state)
    finally:
        if file is not None:
            file.save(state)
    return experiment.histories(state)


@_names_checked
def train(
    algorithm: Algorithm,
    link: LinkSource,
    problem: Problem,
    *,
    rounds: int,
    sgd: Sgd = SGD,
    steps: Steps = 10,
    participation: Participation = EVERYONE,
    deadline: Deadline | None = None,
    downlink: Downlink | None = None,
    seed: int = 0,
    round_period: float = 0.1,
    test_every: int = 1,
    measure_gradient: bool = False,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    on_round: OnRound | None = None,
) -> History:
    """Train one model.

    Parameters
    ----------
    algorithm : Algorithm
        What clients and server do in a round.
    link : Link or callable
        The uplink, or a function of the round (an int, from 0) that returns one.
    problem : Problem
        Model, data and shards.
    rounds : int
        Number of rounds, counted from the beginning of the run.
    sgd : Sgd
        How clients train; ``Sgd()`` by default, with learning rate 0.1 and batches of 50.
    steps : int, sequence of int, Epochs, or callable
        Largest number of local steps that each client can take in a round: a scalar (10 by
        default), one value per device, ``Epochs(1)`` for a pass over the client's samples, or a
        function of (round, number of clients, rng).
    participation : Participation
        Which devices take part in a round: ``Everyone()`` by default, or for example
        ``RandomClients(20)``. What belongs to a device (its data, channel, hardware and computing
        speed) stays with it from round to round.
    deadline : Deadline, optional
        A time limit on local training, by which slow devices may be late; none by default.
    downlink : Downlink, optional
        How the model reaches the clients; without error by default. Clients train from what they
        receive.
    seed : int
        Seed >= 0 of everything that is drawn; 0 by default.
    round_period : float
        Time from the beginning of one round to that of the next, in seconds; 0.1 by default. Links
        whose channels change with time, downlinks included, are opened at multiples of it.
    test_every : int
        Number of rounds between tests, 1 by default; the last round is always tested.
    measure_gradient : bool
        Whether to measure the full gradient as well, in rounds with a test; False by default. Not
        for a :class:`fl.Population`.
    checkpoint : str or Path, optional
        File to which the state is saved twice a minute, on interruption and at the end. A run that
        finds it resumes from there, also with more ``rounds``, and has the same result as one that
        never stopped.
    progress : bool
        Whether to show a progress bar, on terminals only; True by default.
    on_round : callable, optional
        Called after each round with its number and a list of the metrics of each run, with None for
        runs that have diverged.

    Returns
    -------
    History
        Metrics of every round, and the last model.

    Raises
    ------
    ValueError
        If an argument or what a user-defined part returns is invalid, if the checkpoint belongs to
        another run, or if a round takes longer than ``round_period``, downlink included, on a
        channel that moves (see :class:`fl.Uplink`), so that two rounds would overlap in time.

    Warns
    -----
    DivergenceWarning
        If the model diverged; the run stops, and its history says why.

    Examples
    --------
    >>> import numpy as np
    >>> from fl import Cotaf, Sgd, quadratic_problem, train
    >>> from links import IdealLink
    >>> two = quadratic_problem(np.ones((2, 1, 1)), [[1.0], [3.0]])
    >>> run = train(Cotaf(), IdealLink(), two, rounds=50, steps=1, sgd=Sgd(0.5, batch_size=None))
    >>> print(run.model)
    [2.]
    """
    (history,) = train_together(
        [(algorithm, link)],
        problem,
        rounds=rounds,
        sgd=sgd,
        steps=steps,
        participation=participation,
        deadline=deadline,
        downlink=downlink,
        seed=seed,
        round_period=round_period,
        test_every=test_every,
        measure_gradient=measure_gradient,
        checkpoint=checkpoint,
        progress=progress,
        on_round=on_round,
    )
    return history


def _note(rows: Sequence[Row | None]) -> str:
    """Return what to show beside the progress bar: the accuracies of the runs that were tested."""
    accuracies = [float(row["test_accuracy"]) for row in rows if row is not None]
    return "  ".join(f"{each:.1%}" for each in accuracies if not math.isnan(each))
