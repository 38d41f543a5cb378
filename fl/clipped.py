r"""Federated averaging of clipped updates, with a gain that does not depend on them.

[1] H. B. McMahan, D. Ramage, K. Talwar and L. Zhang, "Learning differentially private recurrent
language models", ICLR 2018.

=============  ==========================================
paper          here
=============  ==========================================
S              ``clip``, written C below
Delta^k        ``updates[i]``
w_k / W        ``weights[i]``, written alpha_i below
=============  ==========================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, evenly_spread, sent_within, weighted
from otafl._base.names import options
from otafl._base.validation import number


@options
@dataclass(frozen=True)
class ClippedFedAvg(Algorithm):
    """Federated averaging of clipped updates, at a gain that is known before the round.

    The noise of the receiver then makes it differentially private: see
    :meth:`fl.History.privacy`.

    Parameters
    ----------
    clip : float
        Largest norm C > 0 of an update; 1 by default.
    server_step : float
        Factor > 0 of the received sum when it is added to the model; 1 by default.

    Notes
    -----
    Clients clip as in [1], H. B. McMahan et al., "Learning differentially private recurrent
    language models", 2018 (flat clipping), and the channel adds them::

        s_i = alpha_i Delta_i min(1, C / ||Delta_i||),   ||s_i|| <= alpha_i C
        x_{t+1} = x_t + server_step (sum_i s_i + w_t / beta_t)

    beta_t is the largest gain at which vectors of norm alpha_i C with entries of equal magnitude
    fit every budget; this rule is ours. It depends on weights, budgets and channels only. On links
    with one budget per round and the same channel for all entries, no signal exceeds its budget.
    Elsewhere one may, if much of it falls on weak carriers or in one OFDM symbol; the client then
    scales it down, which is recorded. In no case does a client's part exceed alpha_i C.

    Examples
    --------
    >>> ClippedFedAvg(clip=0.5)
    ClippedFedAvg(clip=0.5, server_step=1.0)
    """

    clip: float = 1.0
    server_step: float = 1.0

    def __post_init__(self) -> None:
        number("clip", self.clip, above=0)
        number("server_step", self.server_step, above=0)

    def sensitivity(self, current: Round) -> float:
        """Return max_i alpha_i C."""
        return float(current.weights.max()) * self.clip

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send the clipped alpha_i Delta_i, scaled down where they exceed a budget."""
        norms = np.linalg.norm(updates.astype(np.float64), axis=1)
        clipped = norms > self.clip
        shrunk = np.divide(self.clip, norms, out=np.ones_like(norms), where=clipped)
        even = evenly_spread(current, current.weights * self.clip)
        gain = float(current.uplink.max_gain(even))  # beta_t, by the notes of the class
        signals = weighted(updates, current.weights * shrunk)
        received, loads = sent_within(current, signals, gain)
        model = current.model + signals.dtype.type(self.server_step) * received.total
        recorded = replace(received, diagnostics={**received.diagnostics, "clipped": clipped})
        return Outcome(model, recorded, gain, loads > 1, sum_factor=self.server_step)
