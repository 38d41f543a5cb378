"""A short training over the link of the page, in a thread, so that the page stays awake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Event, Thread

import numpy as np

from fl import (
    Acpc,
    Cotaf,
    Dataset,
    FedAvg,
    Sgd,
    UniformSteps,
    load_dataset,
    partition_by_label,
    train_together,
)
from fl.history import Row
from scenarios.demo.setting import Setting

ALGORITHMS = {"acpc": Acpc(G=0.5, tau_max=6), "cotaf": Cotaf(), "fedavg": FedAvg()}
ROUNDS = 60
STEPS = UniformSteps(1, 100)


class _StoppedError(Exception):
    """Somebody has seen enough."""


@lru_cache(maxsize=1)
def _mnist() -> Dataset:
    return load_dataset("mnist")


class Training:
    """One run of all algorithms; ``begin`` returns at once.

    on_round : called from the thread with the round, counted from 1, and the test accuracy of each
        algorithm, NaN for one that has diverged
    on_end : called from the thread with what went wrong, or None
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
        self._thread.start()

    def stop(self) -> None:
        """After the round that is under way."""
        self._stopping.set()

    def _run(self) -> None:
        problem = None
        try:
            self._train()
        except _StoppedError:
            pass
        except Exception as error:  # whatever it is, the page must say it
            problem = str(error)
        self._on_end(problem)

    def _train(self) -> None:
        data, clients = _mnist(), self._setting.clients
        labels = max(2, -(-10 // clients))  # few clients must share ten digits
        rng = np.random.default_rng(self._seed)
        shards = partition_by_label(data.y_train, clients, labels, rng)
        link = self._setting.link(correction="active")
        train_together(
            [(algorithm, link) for algorithm in ALGORITHMS.values()],
            data,
            shards,
            rounds=ROUNDS,
            steps=STEPS,
            sgd=Sgd(rate=0.3, batch_size=50, weight_decay=1e-4),
            seed=self._seed,
            progress=False,
            on_round=self._tell,
        )

    def _tell(self, number: int, rows: Sequence[Row | None]) -> None:
        if self._stopping.is_set():
            raise _StoppedError
        accuracies = [np.nan if row is None else float(row["test_accuracy"]) for row in rows]
        self._on_round(number + 1, accuracies)
