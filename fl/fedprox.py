"""FedProx: a proximal term keeps local models close to what clients received.

[1] T. Li, A. K. Sahu, M. Zaheer, M. Sanjabi, A. Talwalkar and V. Smith, "Federated optimization in
heterogeneous networks", MLSys 2020.

=============  =============================================
paper          here
=============  =============================================
w^t            x_i,t, what client i received: ``Round.received``
F_k            client i's loss, with gradient g_i
mu             ``mu``, ``Plan.proximal``
=============  =============================================
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.cotaf import Cotaf
from fl.wrapping import Wrapper, check_aggregation, inner_round, inner_state
from otafl._base.names import options
from otafl._base.validation import number


@options
@dataclass(frozen=True)
class FedProx(Wrapper):
    """FedProx: local training with a proximal term, under any aggregation.

    Parameters
    ----------
    aggregation : Algorithm
        The algorithm that sends and aggregates the updates; ``Cotaf()`` by default.
    mu : float
        mu >= 0, the weight of the proximal term; 0.01 by default. With 0 this is the aggregation
        alone.

    Notes
    -----
    Client i trains on the objective h_i of Eq. (2) of [1], T. Li et al., "Federated optimization in
    heterogeneous networks", 2020, starting from the x_i,t that it received::

        h_i(y) = F_i(y) + mu/2 ||y - x_i,t||^2
        y <- y - eta (g_i(y) + mu (y - x_i,t))

    The paper lets clients solve this as well as they can; here they take the local steps that
    ``aggregation`` plans.

    Examples
    --------
    >>> from fl import Acpc
    >>> FedProx(Acpc(beta="realised"), mu=0.1).mu
    0.1
    """

    aggregation: Algorithm = field(default_factory=Cotaf)
    mu: float = 0.01

    def __post_init__(self) -> None:
        check_aggregation(self.aggregation)
        number("mu", self.mu, least=0)

    def plan(self, current: Round) -> Plan:
        """Return the plan of the aggregation, with the proximal term added."""
        plan = super().plan(current)
        return replace(plan, proximal=plan.proximal + self.mu)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Leave the updates to the aggregation."""
        inner = self.aggregation.aggregate(inner_round(current), plan, updates, steps)
        return replace(inner, state=inner_state(inner.state))
