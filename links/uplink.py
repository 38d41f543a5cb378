"""A link opened for one round: budgets, checks and bookkeeping. The radio is in its medium."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Reception
from otafl._base.arrays import FloatArray, IntArray
from otafl._base.names import check_names
from otafl._base.validation import OptionError, OutOfRangeError, real_array

TOLERANCE = 1e-5  # by which rounding may exceed a budget
ROUND_DOWN = 1 - 1e-6  # so that send accepts what max_gain returns
SMALLEST, LARGEST = 1e-12, 1e12  # magnitudes of signals and gains
PLAIN_ENERGY = (1e-20, 1e20)  # of signals that are surely within those
LEAST_ENERGY, MOST_ENERGY = 1e-33, 1e30  # between which float32 has room for all that follows
LEAST_VARIANCE = 1e-12  # of a client's symbols, relative to the largest
ADDED_AT_ONCE = 1 << 16  # squares that float32 adds up to six digits


class Received(NamedTuple):
    """What a medium delivers.

    Attributes
    ----------
    total : ndarray, shape [d]
        The server's estimate of the sum, with the gain divided out.
    diagnostics : mapping
        Measurements of the medium, under their names in the table of metrics.
    energy : ndarray of float, shape [m, L], or None
        Energy spent, where it does not follow from the signals.
    """

    total: NDArray
    diagnostics: Mapping[str, Any]
    energy: FloatArray | None = None


class Medium(Protocol):
    """What happens between the clients' vectors and the server's sum."""

    def energy(self, signals: NDArray) -> NDArray:
        """Return what sending ``signals [m, d]`` takes at unit gain, [m, L]."""

    def superpose(self, signals: NDArray) -> tuple[Any, NDArray]:
        """Return what arrives at unit gain, in the medium's own form, and its energy [m, L].

        It consumes no random numbers, so a rejected round has no side effects.
        """

    def receive(
        self, arrived: Any, gain: float, spent: FloatArray, weights: FloatArray | None
    ) -> Received:
        """Return the server's estimate, with noise and corrections.

        ``spent [m, L]`` is the energy at this gain; ``weights [m]`` have sum 1, None if all are
        equal.
        """


class Uplink:
    """A link opened for one round.

    Parameters
    ----------
    clients : ndarray of int, shape [m]
        Global indices of the clients that take part.
    length : int
        d, entries of each client's vector.
    budget : ndarray of float, shape [m, C]
        Energy that each client may spend under each of C constraints: in each OFDM symbol, or in
        the round. inf where there is none.
    medium : Medium
        Carries the signals.
    moving : bool
        Whether the channel is one process over the whole run.
    quality : callable, optional
        Returns the mean power of each client's channel, [m]; 1 by default.
    medium_for : callable, optional
        Returns a medium, in place of ``medium``, whose power control is computed for symbols of
        given variances [m], at most 1. By default the control does not depend on the signals.
    only : callable, optional
        Returns the uplink of some of the clients, given their places among all, over the same
        channels.

    Notes
    -----
    Magnitudes of signals and gains are from 1e-12 to 1e12, a range that float32 handles safely;
    larger ones are refused, and signals that are smaller throughout may count as zero.
    """

    def __init__(
        self,
        clients: IntArray,
        length: int,
        budget: FloatArray,
        medium: Any,
        *,
        moving: bool = False,
        quality: Callable[[], FloatArray] | None = None,
        medium_for: Callable[[FloatArray], Medium] | None = None,
        only: Callable[[IntArray], Uplink] | None = None,
    ) -> None:
        self.clients, self.length = clients, length
        self.budget = budget
        self.medium = medium
        self.moving = moving
        self._quality, self._medium_for, self._only = quality, medium_for, only
        self._unlimited = bool(np.isinf(budget[0, 0]))

    @property
    def quality(self) -> FloatArray:
        """[m] mean power of each client's channel as estimated, path gain included."""
        return np.ones(len(self.clients)) if self._quality is None else self._quality()

    def prepared(self, signals: ArrayLike) -> Uplink:
        """Return the uplink with its power control computed for ``signals [m, d]``.

        Where clients report the norms of their signals, each call computes the control for the
        signals that it is given. A client that scales its signal down once it knows its load must
        not report again, or the control would have it amplify what it has scaled down. On other
        links it is this uplink.
        """
        if self._medium_for is None:
            return self
        fixed = copy(self)
        fixed.medium = self._medium_of(self._checked_signals(signals))
        fixed._medium_for = None
        return fixed

    def _medium_of(self, signals: NDArray) -> Any:
        """Return the medium with its power control computed for ``signals``."""
        if self._medium_for is None:
            return self.medium
        return self._medium_for(relative_variances(signals))

    def only(self, places: IntArray) -> Uplink:
        """Return the uplink of some of the clients, over the same channels; the others are silent.

        Parameters
        ----------
        places : ndarray of int
            Their places among the clients of this uplink.
        """
        if self._only is None:
            raise ValueError("the link of this uplink cannot reopen it for some of its clients")
        return self._only(places)

    def energy(self, signals: ArrayLike) -> FloatArray:
        """Return the energy of ``signals [m, d]`` under each constraint at unit gain, [m, C]."""
        return self._constrained(self._energy(signals))

    def load(self, signals: ArrayLike) -> FloatArray:
        """Return each client's largest ratio of energy to budget at unit gain, [m]."""
        return self._loads(self._energy(signals))

    def max_gain(self, signals: ArrayLike) -> float:
        """Return the largest common gain within every budget, at most 1e12; inf if none binds.

        One below 1e-12 is refused.
        """
        load = float(self._loads(self._energy(signals)).max())
        gain = min(ROUND_DOWN / math.sqrt(load), LARGEST) if load > 0 else math.inf
        if gain < SMALLEST:
            raise OutOfRangeError(
                "signals",
                f"within the budgets at a gain of {SMALLEST:g} or more",
                got=f"a largest gain of {gain:g}: give smaller signals or more power",
            )
        return gain

    @check_names
    def send(
        self,
        signals: ArrayLike,
        gain: float,
        *,
        weights: ArrayLike | None = None,
        enforce: bool = True,
    ) -> Reception:
        """Send ``gain * signals`` and return the server's estimate of the sum.

        The estimate has the gain divided out. If you send again over the same uplink, the channels
        are the same and the noise is new.

        Parameters
        ----------
        signals : array_like, shape [m, d]
            The clients' vectors.
        gain : float
            Common to all clients; inf for no noise, if no signal takes energy.
        weights : array_like, shape [m], optional
            How much each client counts, for a server that corrects for silent clients. The
            signals carry their weights already and are not multiplied by these. Equal by default.
        enforce : bool
            Refuse to exceed a budget by more than 1e-5.

        Returns
        -------
        Reception
        """
        values = self._checked_signals(signals)
        shares = None if weights is None else self._checked_weights(weights)
        gain = self._checked_gain(gain)
        medium = self._medium_of(values)
        values, arrived, energy = self._within_range(values, medium.superpose)
        if math.isinf(gain):
            if energy.any():
                raise OptionError("gain", "finite for signals that take energy", gain)
            spent = energy
        else:
            spent = energy * gain**2
        if enforce and not self._unlimited:
            self._refuse_beyond_budget(spent)
        truth = exact_sum(values)
        received = medium.receive(arrived, gain, spent, shares)
        nmse = np.asarray(_relative_error(received.total, truth))
        return Reception(
            total=received.total.astype(values.dtype, copy=False),
            energy=spent if received.energy is None else received.energy,
            diagnostics={"nmse": nmse, **received.diagnostics},
        )

    def _energy(self, signals: ArrayLike) -> FloatArray:
        """Return the energy at unit gain, [m, L]."""
        values = self._checked_signals(signals)
        medium = self._medium_of(values)
        return self._within_range(values, lambda each: (None, medium.energy(each)))[2]

    def _within_range(self, signals: NDArray, work: Any) -> tuple[NDArray, Any, FloatArray]:
        """Do ``work`` on signals of a magnitude that float32 can square.

        The energy is computed anyway; entries are inspected only if it is out of the usual range.
        """
        if self._unlimited:  # nothing is squared
            self._peak(signals)
            return signals, *work(signals)
        with np.errstate(over="ignore", invalid="ignore"):
            result, energy = work(signals)
            energy = np.asarray(energy, np.float64)
            total = float(energy.sum())
        if not PLAIN_ENERGY[0] < total < PLAIN_ENERGY[1]:
            peak = self._peak(signals)
            if peak < SMALLEST:
                signals = np.zeros_like(signals)
                result, energy = work(signals)
            elif not total <= MOST_ENERGY:
                self._refuse_energy(peak, "smaller", "more energy than float32 has room for")
            elif total < LEAST_ENERGY and work(signals / peak)[1].any():
                self._refuse_energy(peak, "larger", "less energy than float32 can tell from zero")
        return signals, result, np.asarray(energy, np.float64)

    def _refuse_energy(self, peak: float, must: str, why: str) -> None:
        raise OutOfRangeError(
            "signals",
            f"{must}: with this power and path_gain they take {why}",
            got=f"entries up to {peak:g}",
        )

    def _peak(self, signals: NDArray) -> float:
        """Return the largest magnitude; reject NaN, infinity and values out of range."""
        peak = float(np.abs(signals).max())
        if not math.isfinite(peak):
            place = [int(i) for i in np.argwhere(~np.isfinite(signals))[0]]
            raise OptionError(f"signals{place}", "finite", signals[tuple(place)].item())
        if peak > LARGEST:
            raise OutOfRangeError(
                "signals", f"at most {LARGEST:g} in magnitude, for float32 to square them", peak
            )
        return peak

    def _constrained(self, energy: FloatArray) -> FloatArray:
        """Return energy per constraint, from energy per symbol."""
        if energy.shape[1] == self.budget.shape[1]:
            return energy
        return energy.sum(axis=1, keepdims=True)

    def _loads(self, energy: FloatArray) -> FloatArray:
        return (self._constrained(energy) / self.budget).max(axis=1)

    def _refuse_beyond_budget(self, spent: FloatArray) -> None:
        loads = self._loads(spent)
        if loads.max() > 1 + TOLERANCE:
            client = int(np.argmax(loads))
            raise ValueError(
                f"client {self.clients[client]} must keep its budget, got a load of "
                f"{loads[client]:.6g}: send with gain <= max_gain(signals), or with enforce=False "
                "to record what it takes"
            )

    def _checked_signals(self, signals: ArrayLike) -> NDArray:
        """Return ``[m, d]``, float32 or float64."""
        values = real_array("signals", signals)
        expected = (len(self.clients), self.length)
        if values.shape != expected:
            raise OptionError("signals", f"of shape {expected}", got=f"shape {values.shape}")
        return values

    def _checked_gain(self, gain: float) -> float:
        value = gain if isinstance(gain, float) else np.asarray(gain)
        real = np.ndim(value) == 0 and np.result_type(value).kind in "fiu"
        if not real or not (SMALLEST <= value <= LARGEST or value == math.inf):
            raise OptionError(
                "gain", f"a number from {SMALLEST:g} to {LARGEST:g}, or inf for no noise", gain
            )
        return float(value)

    def _checked_weights(self, weights: ArrayLike) -> FloatArray:
        """Return ``[m]`` of sum 1."""
        values = real_array("weights", weights).astype(np.float64)
        if values.shape != (len(self.clients),):
            raise OptionError("weights", "one value per client", got=f"shape {values.shape}")
        if not np.isfinite(values).all() or (values < 0).any() or not values.any():
            raise OptionError("weights", "finite, >= 0 and not all zero", weights)
        return values / values.sum()


def relative_variances(signals: NDArray) -> FloatArray:
    """Return ||s_i||^2 / max_j ||s_j||^2 of ``signals [m, d]``, [m].

    Those of signals that are not zero are at least 1e-12, for float32; all are 1 where no signal
    has a finite norm above zero.

    >>> relative_variances(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.5], [1e-9, 0.0]])).tolist()
    [1.0, 0.0, 0.25, 1e-12]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        energies = np.array([squared_norm(np.ascontiguousarray(vector)) for vector in signals])
    largest = energies.max()
    if not 0 < largest < math.inf:
        return np.ones(len(signals))
    return np.where(energies > 0, np.maximum(energies / largest, LEAST_VARIANCE), 0.0)


def exact_sum(signals: NDArray) -> NDArray:
    """Return the sum of ``[m, d]`` over clients; a matrix product is the fastest way."""
    return np.ones(len(signals), signals.dtype) @ signals


def squared_norm(vector: NDArray) -> float:
    """Return ||v||^2 of a contiguous vector, in pieces short enough for float32 to add up."""
    if len(vector) > ADDED_AT_ONCE:
        starts = range(0, len(vector), ADDED_AT_ONCE)
        return sum(squared_norm(vector[at : at + ADDED_AT_ONCE]) for at in starts)
    with np.errstate(over="ignore"):
        norm = float(np.dot(vector, vector))
    if math.isfinite(norm) or vector.dtype == np.float64:
        return norm
    return squared_norm(vector.astype(np.float64))  # squares beyond float32


def _relative_error(value: NDArray, truth: NDArray) -> float:
    """Return ||value - truth||^2 / ||truth||^2; inf for any error on a sum of zero."""
    error = squared_norm(value - truth)
    power = squared_norm(truth)
    if error == 0:
        return 0.0
    return error / power if power > 0 else math.inf
