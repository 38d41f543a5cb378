"""Votes over the air: clients send the signs of their updates, the server moves by the majority.

G. Zhu, Y. Du, D. Gunduz and K. Huang, "One-bit over-the-air aggregation for communication-efficient
federated edge learning", IEEE Trans. Wireless Commun. 20(3), 2021, here without channel truncation
of its own: the link decides that.
"""

from dataclasses import dataclass

import numpy as np

import otafl


@dataclass(frozen=True)
class MajorityVote(otafl.Algorithm):
    """Signs from the clients, a step by the sign of their sum.

    Parameters
    ----------
    server_step : float
        How far the server moves each parameter.
    """

    server_step: float = 0.01

    def aggregate(self, current, plan, updates, steps):
        """Send the votes and move by the majority."""
        votes = current.weights[:, None] * np.sign(updates)
        gain = current.uplink.max_gain(votes)  # the largest that every power budget allows
        received = current.uplink.send(votes, gain, weights=current.weights)
        model = current.model + self.server_step * np.sign(received.total)
        return otafl.Outcome(model, received, gain)
