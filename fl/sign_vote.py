"""Sign votes: clients send one bit per entry, and the server follows the majority.

[1] J. Bernstein, Y.-X. Wang, K. Azizzadenesheli and A. Anandkumar, "signSGD: compressed
optimisation for non-convex problems", ICML 2018 (distributed signSGD with majority vote).

[2] G. Zhu, Y. Du, D. Gunduz and K. Huang, "One-bit over-the-air aggregation for
communication-efficient federated edge learning", IEEE Trans. Wireless Commun. 20(3), 2021 (the
votes are added up by the air).

[3] S. P. Karimireddy, Q. Rebjock, S. U. Stich and M. Jaggi, "Error feedback fixes SignSGD and other
gradient compression schemes", ICML 2019 (the memory of what the signs left out).

==========  ==========================================================================
papers      here
==========  ==========================================================================
Delta_i     ``updates[i]``, in place of the negative gradient of [1] and [2]
delta       ``server_step``
e_i         ``device_state["memory"][i]``
p_i         Delta_i + e_i with error feedback, Delta_i without
==========  ==========================================================================

Entries 2n and 2n + 1 lie on I and Q of a resource element, which therefore carries two votes of a
client, as with the QAM of [2]. The truncated inversion of [2] is that of the link. What is open,
and how it is resolved here:

- A client abstains from an entry where p_i is zero: it sends 0 there, and spends nothing. The first
  gradients of a linear model are exactly zero where all inputs are.
- All votes count the same, whatever the client's share of the data, as in [1] and [2]. A client of
  weight zero, for instance one that was late, casts none.
- The server does not move an entry for which it receives exactly zero, which happens only without
  noise; with noise, a tie is decided by a coin toss.
- [3] sends ||p_i||_1 / d times the signs. In a sum over the air this scale could differ between
  clients only by weighting their votes, so it is the constant delta here. It describes a server
  that moves by the mean of the votes, not by their majority, so the memory is not exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round
from otafl._base.names import options
from otafl._base.validation import boolean, number


@options
@dataclass(frozen=True)
class SignVote(Algorithm):
    """Majority votes on the sign of every entry, added up by the air.

    Parameters
    ----------
    server_step : float
        delta > 0, how far the server moves each entry of its model; 0.01 by default.
    error_feedback : bool
        Whether each client keeps what its votes left out and adds it to its next update; False by
        default. The memory of a client is a vector of the size of the model.

    Notes
    -----
    With the largest common gain beta_t, the votes of one-bit aggregation in [2], G. Zhu et al.,
    2021, after the majority vote of [1], J. Bernstein et al., 2018::

        p_i = Delta_i + e_i
        x_{t+1} = x_t + delta sign(sum_i sign(p_i) + w_t / beta_t)
        e_i = p_i - delta sign(p_i)

    where e_i = 0 without error feedback. The metric ``vote_error_rate`` is the share of entries
    that the server moved the wrong way or not at all, among those that had a majority;
    :func:`links.theory.vote_error_probability` predicts it.

    Examples
    --------
    >>> SignVote(server_step=0.002, error_feedback=True)
    SignVote(server_step=0.002, error_feedback=True)
    """

    server_step: float = 0.01
    error_feedback: bool = False

    def __post_init__(self) -> None:
        number("server_step", self.server_step, above=0)
        boolean("error_feedback", self.error_feedback)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send the votes, and move by the sign of their received sum."""
        voters = current.weights > 0
        if self.error_feedback and current.device_state:
            updates = updates + current.device_state["memory"].astype(updates.dtype)
        votes = np.sign(updates) * voters[:, None].astype(updates.dtype)
        gain = float(current.uplink.max_gain(votes))
        received = current.uplink.send(votes, gain, weights=voters.astype(np.float64))
        rate = vote_error_rate(votes.sum(axis=0), received.total)
        reported = {**received.diagnostics, "vote_error_rate": np.asarray(rate)}
        step = updates.dtype.type(self.server_step)
        memory = {"memory": updates - step * votes} if self.error_feedback else {}
        return Outcome(
            current.model + step * np.sign(received.total),
            replace(received, diagnostics=reported),
            gain,
            device_state=memory,
        )


def vote_error_rate(cast: NDArray, received: NDArray) -> float:
    """Return the share of entries whose received sum [d] has another sign than that of the votes.

    Entries with a tie do not count.

    Parameters
    ----------
    cast : ndarray, [d]
        Sum of the votes that were cast, a whole number in each entry.
    received : ndarray, [d]
        What the server received of it.

    Returns
    -------
    float
        Between 0 and 1; NaN if every entry is a tie.

    Examples
    --------
    >>> vote_error_rate(np.array([3, -1, 0, 1]), np.array([0.2, 0.4, 9.0, 1.7]))
    0.3333333333333333
    """
    decided = cast != 0
    wrong = np.sign(received[decided]) != np.sign(cast[decided])
    return float(wrong.mean()) if wrong.size else float("nan")
