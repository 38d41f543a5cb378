"""Local training, timed side by side: ours, a per-client Keras loop, and the bare matrix products.

    python -m tests.bench.local_training

Logistic regression on MNIST, 10 clients, minibatches of 50, a round of 30 steps; one run, and
three that share their minibatches. Read the ratios. Then what part of a run the radio takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fl import (
    Cotaf,
    LogisticRegression,
    Plan,
    Problem,
    Sgd,
    load_dataset,
    partition_by_label,
    train,
)
from fl.client_data import ClientData
from fl.local import train_locally
from links import OfdmLink
from tests.bench.timing import best_times

CLIENTS, BATCH, STEPS, ROUNDS = 10, 50, 30, 300
MODEL = LogisticRegression(784, 10)
OURS, KERAS = "this toolkit", "per-client Keras loop"


def mnist_clients() -> ClientData:
    data = load_dataset("mnist")
    shards = partition_by_label(data.y_train, CLIENTS, 2, np.random.default_rng(0))
    return ClientData.of(Problem(MODEL, data, shards))


def our_round(clients: ClientData, runs: int) -> Callable[[], object]:
    starts = np.zeros((runs, MODEL.size), np.float32)
    plans = [Plan(np.full(CLIENTS, STEPS))] * runs
    return lambda: train_locally(
        MODEL, clients, Sgd(0.1, BATCH), 0.1, starts, plans, np.random.default_rng(1)
    )


def keras_round(clients: ClientData) -> Callable[[], object]:
    """One run, as a user would write it: a model, its weights set for each client in turn."""
    from tensorflow import keras

    x = load_dataset("mnist").x_train.reshape(-1, 784).astype(np.float32) / 255
    model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss)
    start = [np.zeros((784, 10), np.float32), np.zeros(10, np.float32)]

    def one_round() -> list[Any]:
        rng = np.random.default_rng(1)
        updates = []
        for shard in clients.shards:
            model.set_weights(start)
            for _ in range(STEPS):
                samples = rng.choice(shard, BATCH)
                model.train_on_batch(x[samples], clients.labels[samples])
            updates.append(model.get_weights())
        return updates

    return one_round


def bare_products(runs: int) -> dict[str, Callable[[], object]]:
    """Scores and gradients of a round and nothing else, their matrices ready beforehand.

    As our own code has them, which is the fastest form that was found, and as X W and X^T E.
    """
    rng = np.random.default_rng(0)
    inputs = rng.random((STEPS, CLIENTS, BATCH, 785), np.float32)
    weights = rng.random((CLIENTS, runs, 10, 785), np.float32)
    errors = rng.random((CLIENTS, runs, 10, BATCH), np.float32)
    scores, gradients = np.empty_like(errors), np.empty_like(weights)
    columns = rng.random((CLIENTS, 785, 10 * runs), np.float32)
    wrong = rng.random((CLIENTS, BATCH, 10 * runs), np.float32)

    def by_rows(steps: Any) -> None:
        for x in steps:
            np.matmul(weights, x.swapaxes(-1, -2)[:, None], out=scores)
            np.matmul(errors, x[:, None], out=gradients)

    def by_columns(steps: Any) -> None:
        for x in steps:
            for each, matrix, error in zip(x, columns, wrong, strict=True):
                each @ matrix
                each.T @ error

    return {
        "bare products": lambda: by_rows(inputs),
        "bare products, X W and X^T E": lambda: by_columns(inputs),
        "bare products, data in the cache": lambda: by_rows([inputs[0]] * STEPS),
    }


def print_throughput(clients: ClientData, runs: int) -> None:
    print(f"\nLocal training, {runs} run{'s' * (runs > 1)} sharing minibatches")
    works = {OURS: our_round(clients, runs), **bare_products(runs), KERAS: keras_round(clients)}
    times = best_times(works)
    times[KERAS] *= runs  # they come one after the other
    for name, seconds in times.items():
        print(
            f"  {name:34s} {CLIENTS * STEPS * runs / seconds:9.0f} client-steps/s   "
            f"ours takes {times[OURS] / seconds:5.3f} of its time"
        )


class TimedLink:
    """An OfdmLink that notes how long it works."""

    def __init__(self) -> None:
        self.link, self.seconds = OfdmLink(), 0.0

    def open(self, *arguments: Any, **options: Any) -> Any:
        uplink = self._timed(self.link.open, *arguments, **options)
        return _TimedUplink(uplink, self._timed)

    def _timed(self, work: Callable, *arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = work(*arguments, **options)
        self.seconds += time.perf_counter() - start
        return result


class _TimedUplink:
    def __init__(self, uplink: Any, timed: Callable) -> None:
        self._uplink, self._timed, self.budget = uplink, timed, uplink.budget

    def __getattr__(self, name: str) -> Callable:
        return lambda *arguments, **options: self._timed(
            getattr(self._uplink, name), *arguments, **options
        )


def print_radio_share() -> None:
    data = load_dataset("mnist")
    shards = partition_by_label(data.y_train, CLIENTS, 2, np.random.default_rng(0))
    link = TimedLink()
    start = time.perf_counter()
    options = {"steps": STEPS, "sgd": Sgd(0.1, BATCH), "test_every": 10}
    train(Cotaf(), link, Problem(MODEL, data, shards), rounds=ROUNDS, **options)
    total = time.perf_counter() - start
    print(
        f"\n{ROUNDS} rounds of COTAF with {STEPS} steps over OfdmLink: {total:.1f} s, the link "
        f"{link.seconds / total:.1%} of it"
    )


def main() -> None:
    clients = mnist_clients()
    print_throughput(clients, 1)
    print_throughput(clients, 3)
    print_radio_share()


if __name__ == "__main__":
    main()
