"""What all rounds have in common: validation, budgets, bookkeeping. The radio is elsewhere."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Reception
from links.opening import Opening
from phy.checks import real_array

TOLERANCE = 1e-5  # by which rounding may exceed a budget
ROUND_DOWN = 1 - 1e-6  # so that send accepts what max_gain gives
LARGEST = 1e60  # magnitude of a signal or a gain
MODERATE = (1e-24, 1e30)  # total energy at unit gain for which float32 serves
ADDED_AT_ONCE = 1 << 16  # squares that float32 adds up to six digits


class BaseSlot(ABC):
    """A round over some medium, worked out trial by trial.

    Who inherits says what the medium does to one trial: ``_energy``, ``_superpose`` and
    ``_receive``, and what there is to report of all of them: ``_diagnostics``.
    """

    def __init__(self, opening: Opening, budget: NDArray[np.float64]) -> None:
        """``budget [num_clients, C]``."""
        self._opening = opening
        self._budget = budget

    @property
    def budget(self) -> NDArray[np.float64]:
        trials = self._opening.num_trials
        return self._opening.outward(np.broadcast_to(self._budget, (trials, *self._budget.shape)))

    def energy(self, signals: ArrayLike) -> NDArray[np.float64]:
        return self._opening.outward(self._constrained(self._energies(signals)))

    def load(self, signals: ArrayLike) -> NDArray[np.float64]:
        return self._opening.outward(self._loads(self._energies(signals)))

    def max_gain(self, signals: ArrayLike) -> NDArray[np.float64]:
        load = self._loads(self._energies(signals)).max(axis=-1)
        with np.errstate(divide="ignore"):
            return self._opening.outward(ROUND_DOWN / np.sqrt(load))

    def send(
        self,
        signals: ArrayLike,
        gain: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        enforce: bool = True,
    ) -> Reception:
        opening = self._opening
        values = self._checked_signals(signals)
        shares = self._checked_weights(weights)
        gains = self._checked_gains(gain)

        # The sums of all trials come before the first noise is drawn: a refused round leaves no
        # trace, and processors are faster at one kind of work at a time.
        waves, energy, scales = self._moderated(self._superpose_beside_truth, values)
        spent = self._spent(energy, gains)
        if enforce:
            self._hold_budgets(spent)
        total = np.empty((len(values), opening.length), values.dtype)
        measures: dict[str, list[float]] = {"nmse": []}
        with np.errstate(over="ignore"):  # squared_norm sees to it
            for trial, (arrived, truth) in enumerate(waves):
                gain_, scale = float(gains[trial] * scales[trial]), scales[trial]
                heard, measured = self._receive(trial, arrived, gain_, shares[trial])
                measures["nmse"].append(_relative_error(heard, truth))
                total[trial] = heard if scale == 1 else heard * scale
                for name, value in measured.items():
                    measures.setdefault(name, []).append(value)
        diagnostics = self._diagnostics(spent)
        diagnostics.update({name: np.array(each) for name, each in measures.items()})
        return Reception(
            total=opening.outward(total),
            energy=opening.outward(spent),
            diagnostics={name: opening.outward(value) for name, value in diagnostics.items()},
        )

    # What the medium does, for one trial: signals [m, d].

    def _energy(self, trial: int, signals: NDArray) -> NDArray:
        """``[m, L]``: what sending at unit gain takes."""
        return self._superpose(trial, signals)[1]

    @abstractmethod
    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray]:
        """What arrives at unit gain without noise, in the medium's own form, and its energy."""

    @abstractmethod
    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, float]]:
        """``[d]`` from what arrived (noise, the server's corrections), and what was measured."""

    @abstractmethod
    def _diagnostics(self, spent: NDArray[np.float64]) -> dict[str, NDArray]:
        """Of all trials, beside what ``_receive`` measured of each."""

    def _spent(
        self, energy: NDArray[np.float64], gains: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``[trials, m, L]``, what the round takes at those gains."""
        if np.isfinite(gains).all():
            return energy * (gains * gains)[:, None, None]
        if (energy[np.isinf(gains)] > 0).any():
            raise ValueError("gain = inf is not allowed for signals that take energy")
        return energy * np.where(np.isinf(gains), 1, gains * gains)[:, None, None]

    # Bookkeeping, for all trials.

    def _energies(self, signals: ArrayLike) -> NDArray[np.float64]:
        """``[trials, m, L]`` at unit gain."""

        def alone(trial: int, vectors: NDArray) -> tuple[None, NDArray[np.float64]]:
            return None, self._energy(trial, vectors)

        return self._moderated(alone, self._checked_signals(signals))[1]

    def _superpose_beside_truth(
        self, trial: int, signals: NDArray
    ) -> tuple[tuple[NDArray, NDArray], NDArray[np.float64]]:
        """As ``_superpose``, with the true sum, taken while the signals are in the cache."""
        arrived, energy = self._superpose(trial, signals)
        return (arrived, exact_sum(signals)), energy

    def _moderated(
        self,
        work: Callable[[int, NDArray], tuple[Any, NDArray[np.float64]]],
        signals: NDArray,
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.float64]]:
        """``work`` on the signals of each trial, of any finite size.

        Squares of very large or small entries do not fit float32. The energy shows them, and what
        is not finite too, at no cost to the rest: only then is a trial looked at, and done again
        with its signals divided by a power of two. Gives results, energies and those divisors.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            done = [work(trial, vectors) for trial, vectors in enumerate(signals)]
            results = [result for result, _ in done]
            energy = np.array([spent for _, spent in done], np.float64)
            totals = energy.reshape(len(signals), -1).sum(axis=1)
        scales = np.ones(len(signals))
        if MODERATE[0] < totals.min() and totals.max() < MODERATE[1]:
            return results, energy, scales
        moderate = (MODERATE[0] < totals) & (totals < MODERATE[1])
        for trial in np.flatnonzero(~moderate).tolist():
            vectors = signals[trial]
            self._refuse_infinite(trial, vectors)
            peak = float(np.abs(vectors).max())
            if peak > LARGEST:
                raise ValueError(
                    f"signals as large as {peak:g} are not allowed: give magnitudes up to "
                    f"{LARGEST:g}"
                )
            if peak < 1 / LARGEST:  # nothing that any gain could raise above zero
                results[trial], energy[trial] = work(trial, np.zeros_like(vectors))
            else:
                scales[trial] = scale = 2.0 ** math.floor(math.log2(peak))
                results[trial], spent = work(trial, (vectors / scale).astype(vectors.dtype))
                energy[trial] = spent.astype(np.float64) * scale**2
        return results, energy, scales

    def _refuse_infinite(self, trial: int, vectors: NDArray) -> None:
        if not np.isfinite(vectors).all():
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(vectors))[0])
            place = (trial, *where) if self._opening.batched else where
            raise ValueError(
                f"signals{list(place)} = {vectors[where]} is not allowed: give finite numbers"
            )

    def _constrained(self, energy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Energy per symbol to energy per constraint."""
        if energy.shape[-1] == self._budget.shape[-1]:
            return energy
        return energy.sum(axis=-1, keepdims=True)

    def _loads(self, energy: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self._constrained(energy) / self._budget).max(axis=-1)

    def _hold_budgets(self, spent: NDArray[np.float64]) -> None:
        loads = self._loads(spent)
        if loads.max() > 1 + TOLERANCE:
            trial, client = np.unravel_index(np.argmax(loads), loads.shape)
            raise ValueError(
                f"client {self._opening.clients[client]} would spend {loads[trial, client]:.6g} "
                "times its budget: send with gain <= max_gain(signals), or with enforce=False to "
                "record what it takes"
            )

    def _checked_signals(self, signals: ArrayLike) -> NDArray:
        """``[trials, m, d]``, float32 or float64."""
        opening = self._opening
        values = real_array("signals", signals)
        expected: tuple[int, ...] = (opening.num_clients, opening.length)
        if opening.batched:
            expected = (opening.num_trials, *expected)
        if values.shape != expected:
            raise ValueError(f"signals have shape {values.shape}: this slot takes {expected}")
        return values if opening.batched else values[None]

    def _checked_gains(self, gain: ArrayLike) -> NDArray[np.float64]:
        """One a trial."""
        values = real_array("gain", gain).astype(np.float64)  # float32 cannot hold the limits
        shape = (self._opening.num_trials,) if self._opening.batched else ()
        if values.shape not in (shape, ()):
            raise ValueError(f"gain has shape {values.shape}: give one number, or one a trial")
        if not ((values >= 1 / LARGEST) & ((values <= LARGEST) | np.isinf(values))).all():
            raise ValueError(
                f"gain = {gain!r} is not allowed: give numbers from {1 / LARGEST:g} to "
                f"{LARGEST:g}, or inf for no noise"
            )
        return np.full(self._opening.num_trials, values)

    def _checked_weights(self, weights: ArrayLike | None) -> NDArray[np.float64]:
        """``[trials, m]``, of sum 1."""
        shape = (self._opening.num_trials, self._opening.num_clients)
        if weights is None:
            return np.full(shape, 1 / shape[1])
        values = real_array("weights", weights)
        if values.shape != shape[1:] and not (self._opening.batched and values.shape == shape):
            raise ValueError(f"weights have shape {values.shape}: give one a client")
        if not np.isfinite(values).all() or (values < 0).any() or not values.sum(-1).all():
            raise ValueError(f"weights = {weights!r} are not allowed: give numbers >= 0, not all 0")
        return np.broadcast_to(values / values.sum(axis=-1, keepdims=True), shape)


def exact_sum(signals: NDArray) -> NDArray:
    """``[m, d]`` to ``[d]``; a matrix product is the fastest sum over clients."""
    return np.ones(len(signals), signals.dtype) @ signals


def squared_norm(vector: NDArray) -> float:
    """||v||^2 of a contiguous vector, in pieces short enough for float32 to add up."""
    if len(vector) > ADDED_AT_ONCE:
        starts = range(0, len(vector), ADDED_AT_ONCE)
        return sum(squared_norm(vector[at : at + ADDED_AT_ONCE]) for at in starts)
    norm = float(np.dot(vector, vector))
    if math.isfinite(norm) or vector.dtype == np.float64:
        return norm
    return squared_norm(vector.astype(np.float64))  # squares beyond float32


def _relative_error(value: NDArray, truth: NDArray) -> float:
    """||value - truth||^2 / ||truth||^2; inf for any error on a sum of zero."""
    error = squared_norm(value - truth)
    power = squared_norm(truth)
    if error == 0:
        return 0.0
    return error / power if power > 0 else np.inf
