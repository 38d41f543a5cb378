"""A short training over the link of the page, in a thread so that the page stays responsive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Event, Thread

import numpy as np

import fl
from fl.history import Row
from otafl.demo.setting import Setting

ALGORITHMS = {"acpc": fl.Acpc(G=0.5, tau_max=6), "cotaf": fl.Cotaf(), "fedavg": fl.FedAvg()}
ROUNDS = 60
STEPS = fl.UniformSteps(1, 100)


class _StoppedError(Exception):
    """The visitor pressed Stop."""


@lru_cache(maxsize=1)
def _mnist() -> fl.Dataset:
    return fl.load_dataset("mnist")


class Training:
    """One training of all algorithms.

    Parameters
    ----------
    setting : Setting
        Settings of the page.
    seed : int
        Seed of all random numbers.
    on_round : callable
        Called from the thread with the round, counted from 1, and the test accuracy of each
        algorithm, NaN for one that has diverged.
    on_end : callable
        Called from the thread with an error message, or None.
    """

    def __init__(
        self,
        setting: Setting,
        seed: int,
        on_round: Callable[[int, list[float]], None],
        on_end: Callable[[str | None], None],
    ) -> None:
        self._setting, self._seed = setting, seed
        self._on_round, self._on_end = on_round, on_end
        self._stopping = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Start the thread and return."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current round."""
        self._stopping.set()

    def _run(self) -> None:
        problem = None
        try:
            self._train()
        except _StoppedError:
            pass
        except Exception as error:  # the page shows it, whatever it is
            problem = str(error)
        self._on_end(problem)

    def _train(self) -> None:
        data, clients = _mnist(), self._setting.clients
        labels = max(2, -(-10 // clients))  # a few clients must hold all ten digits
        rng = np.random.default_rng(self._seed)
        shards = fl.partition_by_label(data.y_train, clients, labels, rng)
        link = self._setting.link(correction="active")
        fl.train_together(
            [(algorithm, link) for algorithm in ALGORITHMS.values()],
            fl.Problem(fl.LogisticRegression(784, 10), data, shards),
            rounds=ROUNDS,
            steps=STEPS,
            sgd=fl.Sgd(rate=0.3, batch_size=50, weight_decay=1e-4),
            seed=self._seed,
            progress=False,
            on_round=self._tell,
        )

    def _tell(self, number: int, rows: Sequence[Row | None]) -> None:
        if self._stopping.is_set():
            raise _StoppedError
        accuracies = [np.nan if row is None else float(row["test_accuracy"]) for row in rows]
        self._on_round(number + 1, accuracies)
