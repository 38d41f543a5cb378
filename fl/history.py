"""What a run leaves behind: its metrics, round by round, and its last model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Round
from fl.local import Trained
from fl.metrics import METRICS
from fl.sgd import Sgd
from otafl._base.names import did_you_mean
from otafl._base.validation import integer

Row = dict[str, NDArray]
"""The metrics of one round of one run, by name."""


@dataclass(frozen=True, eq=False)
class History:
    """The record of a run.

    ``history[name]`` is a metric and ``len(history)`` the number of rounds.

    Parameters
    ----------
    metrics : mapping of str to ndarray
        Metrics by name, each with one entry per round along its first axis; see Notes.
    model : ndarray, [d]
        The last model.
    start : ndarray, [d]
        The initial model x_0.
    weights : ndarray of float64, [m]
        Client weights alpha_i.
    algorithm : Algorithm
        The algorithm of the run.
    sgd : Sgd
        How the clients trained.
    diverged : str or None
        Why the run stopped early; None if it did not.

    Notes
    -----
    The metrics, from the table :data:`fl.metrics.METRICS`:

    {metrics}
    """

    metrics: Mapping[str, NDArray]
    model: NDArray
    start: NDArray
    weights: NDArray[np.float64]
    algorithm: Algorithm
    sgd: Sgd
    diverged: str | None = None

    def __repr__(self) -> str:
        rounds = f"{len(self)} round{'' if len(self) == 1 else 's'}"
        parts = [type(self.algorithm).__name__, rounds]
        if len(self):
            accuracy = self.final_accuracy(1)
            parts += [] if np.isnan(accuracy) else [f"accuracy {accuracy:.1%}"]
            parts += [
                f"NMSE {_in_db(float(self['nmse'][-1]))}",
                f"load up to {self['load'].max():.3g}",
                f"{self['scaled_down'].mean():.0%} scaled down",
            ]
        return f"History({', '.join([*parts, *filter(None, [self.diverged])])})"

    def __getitem__(self, name: str) -> NDArray:
        if not self.metrics:
            raise KeyError(f"{name!r}: the run has no rounds")
        if name not in self.metrics:
            known = f"the metrics are {', '.join(self.metrics)}"
            raise KeyError(f"{name!r}: {known}{did_you_mean(name, self.metrics)}")
        return self.metrics[name]

    def __len__(self) -> int:
        return len(self.metrics["rate"]) if self.metrics else 0

    def final_accuracy(self, rounds: int = 10) -> float:
        """Return the mean test accuracy of the last rounds.

        Parameters
        ----------
        rounds : int
            Number of rounds to average over; those without a test are left out.

        Returns
        -------
        float
            Between 0 and 1; NaN if none of these rounds was tested.
        """
        integer("rounds", rounds, least=1)
        tested = self.metrics.get("test_accuracy", np.empty(0))[-rounds:]
        tested = tested[~np.isnan(tested)]
        return float(tested.mean()) if len(tested) else float("nan")


def _metrics_listed() -> str:
    """Return the table of metrics as a definition list for the docstring."""
    lines = []
    for metric in METRICS.values():
        unit = f", {metric.unit}" if metric.unit else ""
        lines += [f"{metric.name} : [{', '.join(metric.dims)}]{unit}", f"    {metric.meaning}"]
    return "\n    ".join(lines)


if History.__doc__:  # python -OO removes docstrings
    History.__doc__ = History.__doc__.replace("{metrics}", _metrics_listed())


def _in_db(ratio: float) -> str:
    """Format a power ratio in dB; a user-defined link may not report one."""
    if np.isnan(ratio):
        return "not reported"
    return f"{10 * np.log10(ratio):.1f} dB" if ratio > 0 else "-inf dB"


def stack_rows(rows: Sequence[Row]) -> dict[str, NDArray]:
    """Stack the metrics of all rounds along a first axis; empty if there was no round.

    If the link changed between rounds, and with it the number of OFDM symbols, the shorter rows
    are padded with NaN.
    """
    return {name: _padded([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _padded(arrays: Sequence[NDArray]) -> NDArray:
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return np.array(arrays)
    whole = np.full((len(arrays), *np.max(list(shapes), axis=0)), np.nan)
    for row, array in zip(whole, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return whole


def round_metrics(current: Round, outcome: Outcome, trained: Trained, previous: Row | None) -> Row:
    """Return the metrics of a round; the loop adds those of the test and the gradient.

    Parameters
    ----------
    current : Round
        The round.
    outcome : Outcome
        What the algorithm returned.
    trained : Trained
        What local training returned.
    previous : dict or None
        Metrics of the round before, to which cumulative ones are added; None in the first round.
    """
    received = outcome.reception
    clients = len(current.weights)
    budget = current.uplink.budget
    constrained = received.energy
    if budget.shape[-1] == 1:
        constrained = constrained.sum(axis=-1, keepdims=True)
    symbols = received.energy.shape[-1]
    symbol_load = symbols * received.energy / budget.sum(axis=-1, keepdims=True)
    scaled_down = outcome.scaled_down
    row = {
        "rate": current.rate,
        "gain": outcome.gain,
        "train_loss": current.weights @ trained.loss,
        "largest_gradient": trained.largest_gradient,
        "steps": trained.steps,
        "scaled_down": np.zeros(clients, bool) if scaled_down is None else scaled_down,
        "energy": received.energy.sum(axis=-1),
        "worst_symbol_energy": received.energy.max(axis=-1),
        "symbol_load": symbol_load.max(axis=0),
        "load": (constrained / budget).max(axis=-1),
    }
    for name, metric in METRICS.items():
        if metric.reported:
            value = received.diagnostics.get(name)
            if value is None:
                value = np.full(clients if "client" in metric.dims else (), np.nan)
            row[name] = value
        if metric.cumulative and previous is not None:
            row[name] = row[name] + previous[name]
    return {name: np.asarray(value) for name, value in row.items()}
