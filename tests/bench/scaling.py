"""How the cost of a round grows with clients and with entries, and what memory it takes.

    python -m tests.bench.scaling

Linear growth is a constant last column.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from links import OfdmLink

GAIN = 1e-12
SECONDS = 2.0


def measure(clients: int, length: int) -> float:
    """Seconds of a round, the best of some; the interleaver is made once a run, before."""
    link, rng = OfdmLink(), np.random.default_rng(0)
    signals = np.ones((clients, length), np.float32)
    link.open(clients, length, rng).send(signals, GAIN)
    best = np.inf
    deadline = time.perf_counter() + SECONDS
    while best == np.inf or time.perf_counter() < deadline:
        start = time.perf_counter()
        link.open(clients, length, rng).send(signals, GAIN)
        best = min(best, time.perf_counter() - start)
    return best


def print_curve(title: str, sizes: list[tuple[int, int]]) -> None:
    print(f"\n{title}\n  clients    entries         ms   ns per client and entry")
    for clients, length in sizes:
        seconds = measure(clients, length)
        print(
            f"  {clients:7d} {length:10d} {seconds * 1e3:10.2f}   "
            f"{seconds / (clients * length) * 1e9:9.2f}"
        )


def print_memory(clients: int, length: int) -> None:
    signals = np.ones((clients, length), np.float32)
    tracemalloc.start()
    OfdmLink().open(clients, length, np.random.default_rng(0)).send(signals, GAIN)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"\n{clients} clients of {length} entries ({signals.nbytes / 2**20:.0f} MiB) take "
        f"{peak / 2**20:.0f} MiB more"
    )


def main() -> None:
    print_curve("Clients", [(10, 7850), (30, 7850), (100, 7850), (300, 7850), (1000, 7850)])
    lengths = (10_000, 100_000, 1_000_000, 10_000_000)
    print_curve("Entries", [(10, length) for length in lengths])
    print_memory(100, 1_000_000)


if __name__ == "__main__":
    main()
