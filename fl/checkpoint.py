"""The state of an experiment in a file, so that it can stop at any time and resume.

Arrays in .npz form, without pickle, written completely or not at all.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fl.device_state import DeviceState
from fl.experiment import Experiment, RunState, State
from fl.identity import description, digest
from fl.partition import Shards
from fl.population import Population
from fl.rows import stack_rows
from otafl._base.files import replacing

SAVED_EVERY = 30.0  # [s]
FORMAT = 4  # version of the file format
SETTINGS = "settings"


class CheckpointError(ValueError):
    """A file from which this run cannot resume."""


class Checkpoint:
    """Save the state of an experiment to a file, and load it.

    Parameters
    ----------
    path : Path
        The file.
    experiment : Experiment
        Its settings are kept with the state; a file with other settings is refused.
    """

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self._path = path
        self._settings = _settings(experiment)
        self._saved_at = time.monotonic()
        self._saved_number = -1

    def load(self, initial: State) -> State:
        """Return the state in the file, or ``initial`` if there is no file.

        The initial state is saved at once, so that a file that cannot be written is noticed before
        any work is done.
        """
        if self._path.is_dir():
            raise CheckpointError(f"checkpoint must be a file, got the directory {self._path}")
        if not self._path.exists():
            self.save(initial)
            return initial
        arrays = _read(self._path, self._settings)
        self._saved_number = int(arrays["number"])
        runs = tuple(_run_state(arrays, f"{k}/") for k in range(len(initial.runs)))
        return State(self._saved_number, runs)

    def save_if_due(self, state: State) -> None:
        """Save the state if the last save is more than half a minute ago."""
        if time.monotonic() - self._saved_at > SAVED_EVERY:
            self.save(state)

    def save(self, state: State) -> None:
        """Save the state, unless it is the one in the file."""
        if state.number == self._saved_number:
            return
        arrays = {"number": np.array(state.number)}
        for k, run in enumerate(state.runs):
            arrays |= _arrays(run, f"{k}/")
        _write(self._path, self._settings, arrays)
        self._saved_at, self._saved_number = time.monotonic(), state.number


def _settings(experiment: Experiment) -> dict[str, str]:
    """Describe what must be the same for a run to resume: everything but its length."""
    problem = experiment.problem
    data = problem.data
    options = (
        *("runs", "sgd", "steps", "participation", "deadline", "downlink"),
        *("seed", "round_period", "test_every", "measure_gradient"),
    )
    return {
        "format": str(FORMAT),
        **{name: description(getattr(experiment, name)) for name in options},
        "model": description(problem.model),
        "data": digest(data.x_train, data.y_train, data.x_test, data.y_test),
        "shards": _identity(problem.shards),
    }


def _identity(shards: Shards) -> str:
    """Describe the shards without drawing those of a population."""
    return description(shards) if isinstance(shards, Population) else digest(*shards)


def _arrays(run: RunState, prefix: str) -> dict[str, NDArray]:
    """Return the state of a run as arrays by name."""
    arrays = {"model": run.model, "diverged": np.array(run.diverged)}
    groups = {
        "state": run.state,
        "device_state": run.device_state.to_arrays(),
        "selection": run.selection,
        "rows": stack_rows(run.rows),
    }
    for group, values in groups.items():
        arrays |= {f"{group}/{name}": value for name, value in values.items()}
    return {prefix + name: array for name, array in arrays.items()}


def _run_state(arrays: Mapping[str, NDArray], prefix: str) -> RunState:
    """Return the state of a run from the arrays of :func:`_arrays`."""

    def group(name: str) -> dict[str, NDArray]:
        start = f"{prefix}{name}/"
        return {key.removeprefix(start): a for key, a in arrays.items() if key.startswith(start)}

    columns = group("rows")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    model, diverged = arrays[f"{prefix}model"], str(arrays[f"{prefix}diverged"])
    devices = DeviceState.from_arrays(group("device_state"))
    return RunState(model, group("state"), devices, group("selection"), tuple(rows), diverged)


def _write(path: Path, settings: Mapping[str, str], arrays: Mapping[str, NDArray]) -> None:
    """Replace the file at ``path``; at any moment it holds the old state or the new."""
    everything: dict[str, Any] = {SETTINGS: json.dumps(dict(settings)), **arrays}
    memory = io.BytesIO()  # np.savez would raise errors of its own when a disk is full
    np.savez(memory, **everything)
    try:
        with replacing(path) as file:
            file.write(memory.getbuffer())
    except OSError as error:
        raise OSError(f"checkpoint {path} cannot be written: {error.strerror}") from error


def _read(path: Path, settings: Mapping[str, str]) -> dict[str, NDArray]:
    """Return the arrays that were saved; refuse those of a run with other settings."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        found = json.loads(str(arrays.pop(SETTINGS)))
    except KeyError:
        raise CheckpointError(f"{path} is not a checkpoint; choose another file") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CheckpointError(
            f"checkpoint {path} cannot be read ({error}); choose another file, or remove it to "
            "start again"
        ) from None
    wrong = [name for name in settings if found.get(name) != settings[name]]
    if wrong:
        differences = "; ".join(
            f"{name} was {found.get(name)}, is now {settings[name]}" for name in wrong
        )
        raise CheckpointError(
            f"checkpoint {path} belongs to another run ({differences}); choose another file, or "
            "remove it"
        )
    return arrays
