"""SCAFFOLD: control variates correct the drift of local training; both go over the air.

[1] S. P. Karimireddy, S. Kale, M. Mohri, S. J. Reddi, S. U. Stich and A. T. Suresh, "SCAFFOLD:
stochastic controlled averaging for federated learning", ICML 2020.

=============  ====================================================================
paper          here
=============  ====================================================================
c, c_i         ``Round.state["control"]``, ``Round.device_state["control"]``
c - c_i        ``Plan.drift``
Delta y_i      ``updates[i]``
Delta c_i      c_i+ - c_i
K, eta_l       tau_i, ``Round.rate``
eta_g          ``server_step``
S, N           clients that send, ``Round.population``
=============  ====================================================================

What the paper leaves to the channel, and how it is resolved here:

- Clients send alpha_i Delta_i and (c_i+ - c_i) / N, one after the other: 2 d entries, and twice the
  airtime of an algorithm that sends updates alone.
- The two vectors have gains of their own, beta and r beta. The ratio r makes the largest loads of
  both halves equal: either vector alone would allow the same largest gain, and each takes half of
  the budget if that is for a whole round and the same client has the largest vectors. r follows
  from two numbers per client, its loads, and the server knows it, as it knows beta.
- Errors in the received sum of c_i+ - c_i remain in c: later rounds add theirs and remove none, so
  c is the mean of all c_i plus the errors of all rounds so far. That holds for noise and for what
  truncation leaves out: on links that truncate, the limit is off even without noise.
- Clients know c without error, whatever the downlink, and the airtime of sending it is not counted.
- ``correction="active"`` divides by the client weights of the updates, which all count the same in
  the sum of control variates: with unequal weights that sum is then biased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round, weighted
from otafl._base.names import options
from otafl._base.validation import number


@options
@dataclass(frozen=True)
class Scaffold(Algorithm):
    """SCAFFOLD with control variates by option II, over the air.

    Parameters
    ----------
    server_step : float
        eta_g > 0, the factor of the received sum of updates; 1 by default.

    Notes
    -----
    Algorithm 1 of [1], S. P. Karimireddy et al., "SCAFFOLD: stochastic controlled averaging for
    federated learning", 2020, with option II. A client takes tau_i local steps from what it
    received, and updates its c_i, which begins at zero::

        y_i <- y_i - eta (g_i(y_i) + c - c_i)
        c_i+ = c_i - c - Delta_i / (tau_i eta)

    The server receives two sums, S being the clients that send and N the number of devices::

        x_{t+1} = x_t + eta_g sum_{i in S} alpha_i Delta_i
        c_{t+1} = c_t + sum_{i in S} (c_i+ - c_i) / N

    alpha_i is the client weight of the round; in the paper all of them are equal. In the sum of
    control variates all clients count the same, as in the paper: with unequal weights the fixed
    point is still where the plain mean of all gradients vanishes. Without noise and truncation c
    is the mean of all c_i.

    c_i+ is the mean of the gradients of the round only for plain local steps: train with
    ``Sgd(momentum=0)``. The metric ``gain`` is that of the updates.

    Examples
    --------
    >>> Scaffold().num_entries(7850)
    15700
    """

    server_step: float = 1.0

    def __post_init__(self) -> None:
        number("server_step", self.server_step, above=0)

    def num_entries(self, size: int) -> int:
        """Return 2 d: updates and changes of control variates."""
        return 2 * size

    def plan(self, current: Round) -> Plan:
        """Let clients take all their steps, with the drift c - c_i."""
        common, own = _controls(current)
        return Plan(current.max_steps, drift=common - own)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send both vectors, each with its own gain."""
        common, own = _controls(current)
        real = updates.dtype.type
        mean_steps = updates / (steps * current.rate).astype(real)[:, None]
        silent = current.weights == 0  # too late: such a client sends nothing
        changes = np.where(silent[:, None], 0, -common - mean_steps)  # c_i+ - c_i, option II
        of_updates = weighted(updates, current.weights)
        of_controls = changes / real(current.population)
        ratio = real(_ratio(current, of_updates, of_controls))
        signals = np.hstack([of_updates, ratio * of_controls])
        gain = float(current.uplink.max_gain(signals))
        received = current.uplink.send(signals, gain, weights=current.weights)
        update, control = np.split(received.total, 2)
        return Outcome(
            current.model + real(self.server_step) * update,
            received,
            gain,
            state={"control": common + control / ratio},
            device_state={"control": own + changes},
            sum_factor=self.server_step,
        )


def _controls(current: Round) -> tuple[NDArray, NDArray]:
    """Return c [d] and c_i [m, d], zero at the beginning."""
    none = np.zeros_like(current.model)
    common = current.state.get("control", none)
    everyone = np.zeros((len(current.weights), len(none)), none.dtype)
    return common, current.device_state.get("control", everyone)


def _ratio(current: Round, updates: NDArray, controls: NDArray) -> float:
    """Return r, at which both halves [m, d] have the same largest load; 1 if one is zero.

    On links without budgets it is that at which they have the same largest entry.
    """
    nothing = np.zeros_like(updates)
    sizes = [
        float(np.sqrt(current.uplink.load(np.hstack(halves)).max()))
        for halves in ((updates, nothing), (nothing, controls))
    ]
    if min(sizes) == 0:
        sizes = [float(np.abs(half).max()) for half in (updates, controls)]
    return sizes[0] / sizes[1] if min(sizes) > 0 else 1.0
