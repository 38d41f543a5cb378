"""Normalised averaging, the noise-free counterpart of ACPC-OTA-FL.

[1] J. Wang, Q. Liu, H. Liang, G. Joshi and H. V. Poor, "Tackling the objective inconsistency
problem in heterogeneous federated optimization", NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, sent, weighted
from otafl._base.names import options
from otafl._base.validation import number


@options
@dataclass(frozen=True)
class FedNova(Algorithm):
    """FedNova: a client's weight depends only on its share of the data, not on its local steps.

    Parameters
    ----------
    tau_eff : float, optional
        Effective number of steps > 0; sum_i alpha_i tau_i by default. With 1 this is ACPC-OTA-FL
        without noise.

    Notes
    -----
    Normalised averaging as in section 5 of [1], J. Wang et al., "Tackling the objective
    inconsistency problem in heterogeneous federated optimization", for plain local SGD::

        x_{t+1} = x_t + tau_eff sum_i alpha_i Delta_i / tau_i

    Examples
    --------
    >>> FedNova(tau_eff=1.0)
    FedNova(tau_eff=1.0)
    """

    tau_eff: float | None = None

    def __post_init__(self) -> None:
        if self.tau_eff is not None:
            number("tau_eff", self.tau_eff, above=0)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i Delta_i / tau_i with the largest common gain."""
        effective = self.tau_eff
        if effective is None:
            effective = float(current.weights @ steps / current.weights.sum())
        return sent(current, weighted(updates, current.weights / steps), effective)
