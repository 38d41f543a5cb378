"""Federated averaging over the air, without power control: the baseline of Theorem 1.

[1] H. B. McMahan, E. Moore, D. Ramage, S. Hampson and B. Agüera y Arcas, "Communication-efficient
learning of deep networks from decentralized data", AISTATS 2017.

[2] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control", section IV.A.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from otafl._base.names import options


@options
@dataclass(frozen=True)
class FedAvg(Algorithm):
    """Federated averaging: models are sent as they are, without gain and without power limit.

    The energy that this takes is recorded all the same. Over ``IdealLink`` this is noise-free
    FedAvg. Where clients are silent on part of the spectrum and the server does not correct for
    it, the model shrinks, as with weight decay.

    Notes
    -----
    From section IV.A of [2], H. Yang et al., "Over-the-Air Federated Learning with Joint Adaptive
    Computation and Power Control", with w_t as in its Eq. (3)::

        x_{t+1} = sum_i alpha_i x_t^i + w_t,   w_t ~ N(0, sigma_c^2 I)

    Examples
    --------
    >>> FedAvg()
    FedAvg()
    """

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i x_i at unit gain, whatever it takes."""
        models = weighted(current.received + updates, current.weights)
        received = current.uplink.send(models, 1.0, weights=current.weights, enforce=False)
        return Outcome(received.total, received, gain=1.0)
