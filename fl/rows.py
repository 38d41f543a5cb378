"""The metrics of one round, and of all rounds of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Outcome, Round
from fl.local import Trained
from fl.metrics import METRICS, Metric
from fl.privacy import round_zcdp

Row = dict[str, NDArray]
"""The metrics of one round of one run, by name."""


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


def round_metrics(
    current: Round,
    outcome: Outcome,
    trained: Trained,
    rows: Sequence[Row],
    late: NDArray[np.bool_],
    downlink: Mapping[str, NDArray],
    sensitivity: float,
) -> Row:
    """Return the metrics of a round; the loop adds those of the test and the gradient.

    Parameters
    ----------
    current : Round
        The round.
    outcome : Outcome
        What the algorithm returned.
    trained : Trained
        What local training returned.
    rows : sequence of dict
        Metrics of the rounds before, to which cumulative ones are added.
    late : ndarray of bool, [m]
        Which clients missed the deadline.
    downlink : mapping of str to array
        What the downlink reports.
    sensitivity : float
        The bound that the algorithm states on what a client sends; NaN if it states none.
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
    reports = {**downlink, **received.diagnostics}
    noise = (reports.get(name, np.nan) for name in ("largest_arrival", "noise_std"))
    row = {
        "rate": current.rate,
        "gain": outcome.gain,
        "train_loss": current.weights @ trained.loss if current.weights.any() else np.nan,
        "largest_gradient": trained.largest_gradient,
        "device": current.clients,
        "client_weight": current.weights,
        "steps": trained.steps,
        "late": late,
        "scaled_down": np.zeros(clients, bool) if scaled_down is None else scaled_down,
        "energy": received.energy.sum(axis=-1),
        "worst_symbol_energy": received.energy.max(axis=-1),
        "symbol_load": symbol_load.max(axis=0),
        "load": (constrained / budget).max(axis=-1),
        "sensitivity": sensitivity,
        "zcdp": round_zcdp(outcome.gain, sensitivity, *noise),
    }
    for name, metric in METRICS.items():
        if metric.reported:
            value = reports.get(name)
            if value is None:
                value = np.full(clients if "client" in metric.dims else (), np.nan)
            row[name] = value
        if metric.cumulative and rows:
            row[name] = row[name] + _so_far(metric, current.clients, rows)
    return {name: np.asarray(value) for name, value in row.items()}


def _so_far(metric: Metric, clients: NDArray[np.int64], rows: Sequence[Row]) -> NDArray:
    """Return a cumulative metric before a round; for each of its clients, if it is per client."""
    before = rows[-1]
    if "client" not in metric.dims or np.array_equal(before["device"], clients):
        return before[metric.name]
    devices = np.concatenate([row["device"] for row in rows])
    values = np.concatenate([row[metric.name] for row in rows])
    known = np.isin(devices, clients)
    latest = dict(zip(devices[known].tolist(), values[known].tolist(), strict=True))
    return np.array([latest.get(client, 0.0) for client in clients.tolist()])
