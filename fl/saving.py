"""A run's state in a file, so that it can stop at any time and go on."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fl import checkpoint
from fl.experiment import Experiment, Lane, State
from fl.history import stacked
from fl.identity import description, digest

SAVED_EVERY = 30.0  # [s]
FORMAT = 2  # of the file


class Saver:
    """Saves the state of an experiment to a file, and finds it there again."""

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self._path = path
        self._settings = _settings(experiment)
        self._saved_at = time.monotonic()
        self._saved_number = -1

    def load(self, beginning: State) -> State:
        """The state in the file; if there is none, the beginning, which is saved at once.

        So a file that cannot be written is noticed before any work is done.
        """
        if not self._path.exists():
            self.save(beginning)
            return beginning
        arrays = checkpoint.load(self._path, self._settings)
        self._saved_number = int(arrays["number"])
        lanes = tuple(_lane(arrays, f"{place}/") for place in range(len(beginning.lanes)))
        return State(self._saved_number, lanes)

    def save_now_and_then(self, state: State) -> None:
        if time.monotonic() - self._saved_at > SAVED_EVERY:
            self.save(state)

    def save(self, state: State) -> None:
        if state.number == self._saved_number:
            return
        arrays = {"number": np.array(state.number)}
        for place, lane in enumerate(state.lanes):
            arrays |= _arrays(lane, f"{place}/")
        checkpoint.save(self._path, self._settings, arrays)
        self._saved_at, self._saved_number = time.monotonic(), state.number


def _settings(experiment: Experiment) -> dict[str, str]:
    """What must be the same for a run to go on: everything but its length."""
    data, clients = experiment.data, experiment.clients
    return {
        "format": str(FORMAT),
        "runs": description(experiment.runs),
        "model": description(experiment.model),
        "sgd": description(experiment.sgd),
        "steps": description(experiment.steps),
        "seed": description(experiment.seed),
        "round_period": description(experiment.round_period),
        "test_every": description(experiment.test_every),
        "measure_gradient": description(experiment.measure_gradient),
        "data": digest(data.x_train, data.y_train, data.x_test, data.y_test),
        "shards": digest(*clients.shards),
    }


def _arrays(lane: Lane, prefix: str) -> dict[str, NDArray]:
    arrays = {"model": lane.model, "diverged": np.array(lane.diverged)}
    arrays |= {f"memory/{name}": value for name, value in lane.memory.items()}
    arrays |= {f"rows/{name}": value for name, value in stacked(lane.rows).items()}
    return {prefix + name: array for name, array in arrays.items()}


def _lane(arrays: dict[str, NDArray], prefix: str) -> Lane:
    def named(kind: str) -> dict[str, NDArray]:
        start = f"{prefix}{kind}/"
        return {name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)}

    columns = named("rows")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Lane(
        arrays[f"{prefix}model"], named("memory"), tuple(rows), str(arrays[f"{prefix}diverged"])
    )
