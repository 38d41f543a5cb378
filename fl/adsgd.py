"""A-DSGD: sparse updates, projected to fewer channel uses, recovered by message passing.

[1] M. M. Amiri and D. Gündüz, "Machine learning at the wireless edge: distributed stochastic
gradient descent over-the-air", IEEE Transactions on Signal Processing 68, 2020.

=============  ========================================================================
symbol         here
=============  ========================================================================
Delta_i        ``updates[i]``
e_i            ``Round.device_state["memory"][i]``
s_i            the k entries of Delta_i + e_i of largest magnitude
n, k           ``Adsgd.entries``, ``Adsgd.k``
A              ``fl.projection``
lambda         ``Adsgd.threshold``
S              what ``fl.amp`` recovers of sum_i alpha_i s_i
=============  ========================================================================

How it is used here:

- Clients send local updates with one common gain, the largest that every budget allows, as COTAF
  does; the server knows it. The power allocation of [1] is not implemented.
- A is the same in all rounds and for all clients.
- A client remembers what it did not send because of sparsification, not what AMP does not recover:
  it cannot know that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from fl.amp import amp
from fl.projection import PROJECTIONS
from otafl._base.names import options
from otafl._base.validation import OptionError, choice, integer, number


@options
@dataclass(frozen=True)
class Adsgd(Algorithm):
    """A-DSGD: the largest entries of each update, compressed on the air.

    Parameters
    ----------
    entries : int or float
        n, the number of entries that clients send: a whole number from 1 to d, or a share of d,
        above 0 and at most 1.0; 0.5 by default.
    k : int or float
        Number of entries of its update that a client keeps in a round, likewise a whole number or a
        share of d; 0.1 by default. It remembers the rest for later rounds.
    threshold : float
        lambda > 0, the threshold of AMP in units of the noise that it sees; 1.4 by default. It must
        exceed 0.41, 0.76, 1.18 for n/d = 1/2, 1/4, 1/10, or AMP diverges.
    iterations : int
        Iterations of AMP; 30 by default.
    projection : {"dct", "gaussian"}
        A discrete cosine transform with random signs, of which n coefficients are kept (the
        default), or the matrix of independent normal entries of [1], which is slow for large d: see
        :mod:`fl.projection`. State evolution holds for the latter.
    projection_seed : int
        Seed >= 0 of the projection, which is the same in all rounds; 0 by default.

    Notes
    -----
    From [1], M. M. Amiri and D. Gündüz, "Machine learning at the wireless edge", 2020, with the
    memory e_i and a projection A [n, d] that is the same for all clients::

        s_i = top-k(Delta_i + e_i),   e_i <- Delta_i + e_i - s_i
        y = sum_i alpha_i A s_i + w / beta_t
        x_{t+1} = x_t + AMP(y)

    AMP (:mod:`fl.amp`) recovers the sum if it is sparse enough: it has up to m k entries that are
    not zero. The round's ``nmse`` is that of y, before AMP. A client that is late or does not take
    part keeps its memory.

    Examples
    --------
    >>> Adsgd(entries=0.25).num_entries(7850)
    1962
    """

    entries: int | float = 0.5
    k: int | float = 0.1
    threshold: float = 1.4
    iterations: int = 30
    projection: Literal["dct", "gaussian"] = "dct"
    projection_seed: int = 0

    def __post_init__(self) -> None:
        _check_amount("entries", self.entries)
        _check_amount("k", self.k)
        number("threshold", self.threshold, above=0)
        integer("iterations", self.iterations, least=1)
        choice("projection", self.projection, tuple(PROJECTIONS))
        integer("projection_seed", self.projection_seed, least=0, most=2**63)

    def num_entries(self, size: int) -> int:
        """Return n."""
        _amount("k", self.k, size)  # refuse a wrong k before training
        return _amount("entries", self.entries, size)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i A s_i with the largest common gain, and recover the sum."""
        memory = current.device_state.get("memory", np.zeros_like(updates))
        sparse, memory = sparsified(updates + memory, _amount("k", self.k, updates.shape[1]))
        size = updates.shape[1]
        project = PROJECTIONS[self.projection](self.num_entries(size), size, self.projection_seed)
        signals = project.forward(weighted(sparse, current.weights))
        gain = float(current.uplink.max_gain(signals))
        received = current.uplink.send(signals, gain, weights=current.weights)
        total = amp(received.total, project, threshold=self.threshold, iterations=self.iterations)
        return Outcome(current.model + total, received, gain, device_state={"memory": memory})


def sparsified(vectors: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Return the k entries of largest magnitude of each vector [m, d], and the rest, both [m, d].

    >>> sparsified(np.array([[3.0, -4.0, 1.0]]), 1)
    (array([[ 0., -4.,  0.]]), array([[3., 0., 1.]]))
    """
    kept = np.zeros(vectors.shape, bool)
    largest = np.argpartition(np.abs(vectors), -k, axis=1)[:, -k:]
    np.put_along_axis(kept, largest, True, axis=1)
    zero = vectors.dtype.type(0)
    return np.where(kept, vectors, zero), np.where(kept, zero, vectors)


def _check_amount(name: str, given: Any) -> None:
    """Refuse anything but a whole number >= 1 or a share."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    try:
        if whole:
            integer(name, given, least=1)
        else:
            number(name, given, above=0, most=1)
    except OptionError:
        must = "a whole number >= 1, or a share > 0 and <= 1.0"
        raise OptionError(name, must, given) from None


def _amount(name: str, given: int | float, size: int) -> int:
    """Return an amount as a number of entries out of ``size``."""
    if isinstance(given, int | np.integer):
        return integer(name, given, least=1, most=size)
    return max(1, round(given * size))
