"""COTAF: time-varying precoding by the largest update.

[1] T. Sery, N. Shlezinger, K. Cohen and Y. C. Eldar, "Over-the-air federated learning from
heterogeneous data", IEEE Transactions on Signal Processing 69, 2021.

============  ================================================================
paper         here
============  ================================================================
Delta_i       ``updates[i]``
m sqrt(p_t)   ``gain``, the largest that every budget allows (alpha_i = 1/m)
============  ================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, sent, weighted
from otafl._base.names import options
from otafl._base.validation import number


@options
@dataclass(frozen=True)
class Cotaf(Algorithm):
    """COTAF: updates weighted by alpha_i, sent with the largest common gain.

    Parameters
    ----------
    server_step : float
        Factor > 0 of the received sum when it is added to the model; 1 by default.

    Notes
    -----
    The precoding rule of [1], T. Sery et al., "Over-the-air federated learning from
    heterogeneous data", 2021::

        p_t = P / max_i ||Delta_i||^2
        x_{t+1} = x_t + (sum_i sqrt(p_t) Delta_i + w_t) / (m sqrt(p_t))

    Here the largest norm is that of the round itself, not its expectation.

    Examples
    --------
    >>> Cotaf(server_step=0.5)
    Cotaf(server_step=0.5)
    """

    server_step: float = 1.0

    def __post_init__(self) -> None:
        number("server_step", self.server_step, above=0)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i Delta_i with the largest common gain."""
        return sent(current, weighted(updates, current.weights), self.server_step)
