"""What a round costs if 100 of 100,000 devices take part, compared with 100 of 100.

    python -m tests.bench.population

Rounds of COTAF with logistic regression on MNIST over an OFDM link whose channels move, so that
data, computing speed and channel of a device are all functions of (seed, device).
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from fl import (
    BestChannels,
    Cotaf,
    Deadline,
    Participation,
    Population,
    Problem,
    ProportionalFair,
    RandomClients,
    load_dataset,
    partition_by_label,
    train,
)
from links import OfdmLink
from phy import Tdl

FEW, MANY, SAMPLES = 100, 100_000, 60
ROUNDS, TURNS = 10, 5
LINK = OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0))
OPTIONS = {
    "steps": 5,
    "deadline": Deadline(1.0, 0.1),
    "test_every": 10**9,
    "progress": False,
}


def problem_of(devices: int) -> Problem:
    """Return MNIST with a population."""
    mnist = load_dataset("mnist")
    return Problem(None, mnist, Population(mnist.y_train, devices, SAMPLES))


def listed(devices: int) -> Problem:
    """Return MNIST with as many samples per device in a list."""
    mnist = load_dataset("mnist")
    shards = partition_by_label(mnist.y_train, devices, 2, np.random.default_rng(0))
    return Problem(None, mnist, [shard[:SAMPLES] for shard in shards])


def round_time(problem: Problem, participation: Participation) -> float:
    """Return the median time of a round but the first and the last, which is tested."""
    ends: list[float] = []
    train(
        Cotaf(), LINK, problem, rounds=ROUNDS, participation=participation,
        on_round=lambda number, rows: ends.append(time.perf_counter()), **OPTIONS,
    )  # fmt: skip
    return statistics.median(np.diff(ends)[:-1])


def peak_memory(problem: Problem, participation: Participation) -> int:
    """Return the most bytes that a run takes beside the data."""
    tracemalloc.start()
    train(Cotaf(), LINK, problem, rounds=3, participation=participation, **OPTIONS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def compare(name: str, measure: Callable[..., float], unit: str, scale: float) -> None:
    """Print what each case takes, in turns, and its ratio to the first."""
    few, many = problem_of(FEW), problem_of(MANY)
    cases = {
        f"{FEW} of {FEW}, in a list": (listed(FEW), RandomClients(FEW)),
        f"{FEW} of {FEW}": (few, RandomClients(FEW)),
        f"{FEW} of {MANY}": (many, RandomClients(FEW)),
        f"best {FEW} of {2 * FEW} of {MANY}": (many, BestChannels(FEW, 2 * FEW)),
        f"fair {FEW} of {2 * FEW} of {MANY}": (many, ProportionalFair(FEW, 2 * FEW)),
    }
    best = dict.fromkeys(cases, np.inf)
    for _ in range(TURNS):
        for case, arguments in cases.items():
            best[case] = min(best[case], measure(*arguments))
    first = next(iter(best.values()))
    print(f"\n{name}")
    for case, value in best.items():
        print(f"  {case:28s} {value * scale:8.1f} {unit}   {value / first:5.2f}")


def main() -> None:
    """Print both comparisons."""
    compare("A round", round_time, "ms", 1e3)
    compare("Peak memory of a run beside the data", peak_memory, "MiB", 2.0**-20)


if __name__ == "__main__":
    main()
