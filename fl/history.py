"""What a run leaves behind: its metrics, round by round, and its last model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Round
from fl.checks import Count, checked
from fl.local import Sgd, Trained

Row = dict[str, NDArray]
"""The metrics of one round of one run."""

METRICS = (
    "rate",
    "gain",
    "train_loss",
    "largest_gradient",
    "steps",
    "scaled_down",
    "energy",
    "worst_symbol_energy",
    "symbol_load",
    "load",
    "nmse",
    "received_snr_db",
    "active_fraction",
    "airtime",
    "radiated_energy",
    "clip_rate",
    "papr_db",
    "squared_gradient_norm",
    "test_loss",
    "test_accuracy",
)


@dataclass(frozen=True, eq=False)
class History:
    """A run so far.

    metrics : by name, each with one entry a round:

        ``test_accuracy``, ``test_loss`` : of the model after the round; NaN where not tested
        ``train_loss`` : F(x_t) before the round, without weight decay, estimated without bias from
        its first minibatches
        ``squared_gradient_norm`` : ||grad F(x_t)||^2 over all data; NaN where not measured
        ``rate`` : eta_t
        ``gain`` : the common gain, the paper's beta_t
        ``steps`` : [m], local steps tau_t^i
        ``scaled_down`` : [m], who sent less than its part for want of power
        ``energy`` : [m], spent by each client
        ``worst_symbol_energy`` : [m], and in its worst OFDM symbol
        ``symbol_load`` : [L], energy in each OFDM symbol over an equal share of the budget of the
        round, for the client for which that is largest
        ``load`` : [m], the worst of energy over budget; zero where there is no budget
        ``nmse`` : of the received sum, against the sum of what was sent
        ``received_snr_db`` : at the antenna; NaN on links without
        ``active_fraction`` : [m], of the spectrum that each client could use
        ``airtime`` : of all rounds so far [s]
        ``radiated_energy`` : [m], of all rounds so far
        ``clip_rate`` : [m], part of the samples that each transmitter clipped; NaN where none may
        ``papr_db`` : [m], peak over mean power of a symbol of each client; NaN where not measured
        ``largest_gradient`` : [m], largest norm of a stochastic gradient

    model : [d], the last one
    start : [d], x_0
    weights : [m], alpha_i
    algorithm, sgd : what ran
    diverged : why it stopped before its time, or None
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
            parts += [
                f"accuracy {self.final_accuracy(1):.1%}",
                f"NMSE {_in_db(float(self['nmse'][-1]))}",
                f"load up to {self['load'].max():.3g}",
                f"{self['scaled_down'].mean():.0%} scaled down",
            ]
        return f"History({', '.join([*parts, *filter(None, [self.diverged])])})"

    def __getitem__(self, name: str) -> NDArray:
        if not self.metrics:
            raise KeyError(f"{name!r}: the run has no round")
        if name not in self.metrics:
            raise KeyError(f"{name!r}: there are {', '.join(self.metrics)}")
        return self.metrics[name]

    def __len__(self) -> int:
        """The number of rounds."""
        return len(self.metrics["rate"]) if self.metrics else 0

    def final_accuracy(self, rounds: int = 10) -> float:
        """The mean over the last ``rounds`` rounds, as far as they were tested; NaN if none was."""
        checked("rounds", rounds, Count)
        if not len(self):
            return float("nan")
        tested = self["test_accuracy"][-rounds:]
        tested = tested[~np.isnan(tested)]
        return float(tested.mean()) if len(tested) else float("nan")


def _in_db(ratio: float) -> str:
    """As in print; links of one's own may report none."""
    if np.isnan(ratio):
        return "not reported"
    return f"{10 * np.log10(ratio):.1f} dB" if ratio > 0 else "0"


def stacked(rows: Sequence[Row]) -> dict[str, NDArray]:
    """Metrics with one entry a round; empty if there was none.

    Where a link changed over the rounds, and with it the number of OFDM symbols, the shorter rows
    end in NaN.
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


def row_of(round: Round, outcome: Outcome, trained: Trained, before: Row | None) -> Row:
    """The metrics of a round, as far as they are known without a test."""
    received = outcome.reception
    report = received.diagnostics
    clients = len(round.weights)
    nobody = np.zeros(clients, bool)
    budget = round.slot.budget
    constrained = received.energy
    if budget.shape[-1] == 1:
        constrained = constrained.sum(axis=-1, keepdims=True)
    symbols = received.energy.shape[-1]
    symbol_load = symbols * received.energy / budget.sum(axis=-1, keepdims=True)
    row = {
        "rate": round.rate,
        "gain": outcome.gain,
        "train_loss": round.weights @ trained.loss,
        "largest_gradient": trained.largest_gradient,
        "steps": trained.steps,
        "scaled_down": nobody if outcome.scaled_down is None else outcome.scaled_down,
        "energy": received.energy.sum(axis=-1),
        "worst_symbol_energy": received.energy.max(axis=-1),
        "symbol_load": symbol_load.max(axis=0),
        "load": (constrained / budget).max(axis=-1),
        "nmse": report.get("nmse", np.nan),
        "received_snr_db": report.get("received_snr_db", np.nan),
        "active_fraction": report.get("active_fraction", np.full(clients, np.nan)),
        "airtime": report.get("airtime", np.nan),
        "radiated_energy": report.get("radiated_energy", np.full(clients, np.nan)),
        "clip_rate": report.get("clip_rate", np.full(clients, np.nan)),
        "papr_db": report.get("papr_db", np.full(clients, np.nan)),
    }
    if before is not None:
        for name in ("airtime", "radiated_energy"):
            row[name] = row[name] + before[name]
    return {name: np.asarray(value) for name, value in row.items()}
