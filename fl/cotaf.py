"""COTAF: time-varying precoding by the largest update.

[1] T. Sery, N. Shlezinger, K. Cohen and Y. C. Eldar, "Over-the-air federated learning from
heterogeneous data", IEEE Transactions on Signal Processing 69, 2021.

============  ================================================================
paper         here
============  ================================================================
Delta_i       ``updates[i]``
m sqrt(p_t)   ``gain``, the largest that every budget allows (alpha_i = 1/m)
============  ================================================================

The paper's p_t has the expectation of ||Delta_i||^2, which no one knows beforehand. How it is
resolved here:

- ``precoding="realised"`` takes the norms of the round itself, so that every budget is met.
- ``precoding="expected"`` takes, for each client, a running mean of its own ||Delta_i||^2 over the
  rounds in which it took part, times a margin. Each client reports that number before the round;
  one that takes part for the first time reports the norm of its update.
- A client whose update turns out larger than the gain allows scales it down to its budget, and the
  round records that.
- Where budgets bind per OFDM symbol or channels fade, an expected update is taken to be spread
  evenly over its entries, and the uplink says what that would cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, evenly_spread, sent, sent_within, weighted
from otafl._base.added import added
from otafl._base.names import options
from otafl._base.validation import choice, number


@options
@dataclass(frozen=True)
class Cotaf(Algorithm):
    """COTAF: updates weighted by alpha_i, sent with one gain for all.

    Parameters
    ----------
    server_step : float
        Factor > 0 of the received sum when it is added to the model; 1 by default.
    precoding : {"realised", "expected"}
        Whether p_t follows from the norms of the round itself (the default), or from what is
        expected after past rounds, so that clients with larger updates scale them down.
    margin : float
        Factor > 0 of the expected squared norms, for ``precoding="expected"``; 1 by default, as in
        the paper. With 1 the client that sets the gain is above its expectation, and scales down,
        in about every other round unless norms fall; a larger margin avoids this at the price of
        more noise.
    window : float
        Window >= 1 of the running mean of squared norms, in rounds, for ``precoding="expected"``;
        10 by default.

    Notes
    -----
    The precoding rule of [1], T. Sery et al., "Over-the-air federated learning from
    heterogeneous data", 2021::

        p_t = P / max_i E ||Delta_i||^2
        x_{t+1} = x_t + (sum_i sqrt(p_t) Delta_i + w_t) / (m sqrt(p_t))

    With ``precoding="realised"`` the largest squared norm is that of the round itself, in place of
    its expectation. With ``"expected"``, E ||Delta_i||^2 is margin times q_i, where client i's q_i
    moves to its new ||Delta_i||^2 with weight 1 / min(n, window) after the n-th round in which it
    takes part: the mean over those rounds until n reaches the window.

    Examples
    --------
    >>> Cotaf(server_step=0.5).precoding
    'realised'
    """

    server_step: float = 1.0
    precoding: Literal["realised", "expected"] = added(
        "0.3", default="realised", earlier="realised"
    )
    margin: float = added("0.3", default=1.0, earlier=1.0)
    window: float = added("0.3", default=10.0, earlier=10.0)

    def __post_init__(self) -> None:
        number("server_step", self.server_step, above=0)
        choice("precoding", self.precoding, ("realised", "expected"))
        number("margin", self.margin, above=0)
        number("window", self.window, least=1)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i Delta_i with one gain for all."""
        signals = weighted(updates, current.weights)
        if self.precoding == "realised":
            return sent(current, signals, self.server_step)
        clients = len(signals)
        norms = np.square(updates.astype(np.float64)).sum(axis=1)
        mean = current.device_state.get("mean", np.zeros(clients))
        count = current.device_state.get("count", np.zeros(clients, np.int64))
        gain = self._gain(current, signals, mean, count)
        received, loads = sent_within(current, signals, gain)
        count = count + 1
        mean = mean + (norms - mean) / np.minimum(count, self.window)
        return Outcome(
            current.model + signals.dtype.type(self.server_step) * received.total,
            received,
            gain,
            loads > 1,
            device_state={"mean": mean, "count": count},
            sum_factor=self.server_step,
        )

    def _gain(self, current: Round, signals: NDArray, mean: NDArray, count: NDArray) -> float:
        """Return the largest gain that is within every budget if all is as expected."""
        even = evenly_spread(current, current.weights * np.sqrt(self.margin * mean))
        expected = np.where((count > 0)[:, None], even, signals)
        gain = float(current.uplink.max_gain(expected))
        # nothing is expected to bind: no budget, or updates that were zero before
        return float(current.uplink.max_gain(signals)) if np.isinf(gain) else gain
