"""ACPC-OTA-FL: joint adaptive computation and power control.

[1] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control".

=================  =====================================================================
paper              here
=================  =====================================================================
alpha_i            ``Round.weights``
beta_t             ``gain``
tau_t^i            ``steps``
eta                ``Round.rate``
G                  ``Acpc.G``, or ``state["G"]`` if that is "tracked"
x_{t,tau} - x_t    ``updates[i]``
delta_t^i          ``gain * signals[i]``, ``signals[i]`` = alpha_i ``updates[i]`` / tau_i
P_t^i              ``Uplink.budget``, for a whole round or for every OFDM symbol
=================  =====================================================================

What the paper leaves open, and how it is resolved here:

- beta_t needs the updates, and choosing tau_t^i needs beta_t. ``beta="bound"`` fixes beta_t before
  the round by the paper's bound ||Delta_i|| <= eta tau_i G (section V, after Theorem 2);
  ``"previous"`` does the same with ||Delta_i|| / tau_i of the previous round in place of eta G (the
  largest of that round for a client that took no part in it);
  ``"realised"`` takes all steps and then the largest gain.
- G is a constant of the data, which nobody knows beforehand. ``G="tracked"`` follows from what
  clients report: half of them should fit within the square root of the steps that they can take,
  and at most 9 % should be scaled down.
- ||Delta_i|| / tau_i tends to fall as tau_i grows. A client takes the smallest number of steps at
  which its signal fits (``steps="smallest"``), or the largest. The paper's prose says that
  stronger clients take more steps; with the smallest, more power means the same number or fewer.
- A client whose signal does not fit even after all its steps scales it down to its budget, and the
  round records that.
- On fading channels a unit of energy buys less on a weak channel. The bound assumes an update
  spread evenly over its entries, and the uplink says what that would cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import (
    Algorithm,
    Outcome,
    Plan,
    Round,
    evenly_spread,
    loads_at,
    sent_within,
    weighted,
)
from otafl._base.added import changed
from otafl._base.names import options
from otafl._base.validation import OptionError, choice, integer, number

SCALED_DOWN = 0.09
"""Share of clients that a tracked G lets be scaled down; a history warns of more than a tenth."""
SLOW = 0.5
"""Share of clients that a tracked G lets take more than the square root of their most steps."""


@options
@dataclass(frozen=True)
class Acpc(Algorithm):
    """ACPC-OTA-FL: joint adaptive computation and power control.

    Parameters
    ----------
    beta : {"bound", "previous", "realised"}
        How the gain is found: from the bound eta G on the norm of a local step (the default), from
        the norms of the previous round, or from the updates themselves.
    G : float or "tracked"
        Design bound > 0 on the norm of a stochastic gradient, for ``beta="bound"``. A small G gives
        a large gain, and clients scale down; with G at the run's ``largest_gradient``, hardly any
        client does (none on links without fading and with one budget per round). By default it is
        tracked from round to round, so that half of the clients fit after few steps and at most
        about 9 % are scaled down.
    steps : {"smallest", "largest"}
        Which number of local steps to take among those at which the signal fits its budget;
        "smallest" by default, with which more power means the same number of steps or fewer, and
        one where no budget binds. With ``beta="realised"`` clients take all their steps.
    tau_min : int
        Smallest number of local steps; 1 by default.
    tau_max : int or sequence of int, optional
        Largest number of local steps, a scalar or one value per device; no limit by default. What
        a client can do in a round takes precedence over both limits.

    Raises
    ------
    ValueError
        If an option is not one of these.

    Notes
    -----
    Client i sends delta_t^i by Eq. (11) of [1], and the server forms Eq. (12)::

        delta_t^i = beta_t alpha_i / tau_t^i (x_{t,tau}^i - x_t),   ||delta_t^i||^2 <= P_t^i
        x_{t+1} = x_t + sum_i delta_t^i / beta_t + w_t / beta_t

    A tracked G is not part of [1]. In the first round each client takes sqrt(tau) steps, tau being
    the most that it can take, and the gain is the largest; each reports the G with which its signal
    would just have fitted, and G_1 is the quantile of these at 1 - 0.09. After that::

        G_{t+1} = G_t exp(max(s_t - 0.09, u_t - 1/2))

    where s_t is the share of clients that were scaled down, and u_t that of clients that needed
    more than sqrt(tau) steps, both among those that sent anything. This is the geometric update of
    [2] for a quantile of norms, with a learning rate of 1. A smaller G has clients compute longer,
    for updates that are smaller and point towards their own data; a larger one lets in more noise.
    The geometric mean of 1 and tau lies between. With ``steps="largest"`` u_t plays no part.

    The sum of the exponents bounds s_t: its mean over the rounds 1 to T is at most
    0.09 + ln(G_{T+1} / G_1) / T on any link and with any data, a tenth unless G grows beyond
    G_1 exp(0.01 T).

    [1] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
    Computation and Power Control".
    [2] G. Andrew, O. Thakkar, H. B. McMahan and S. Ramaswamy, "Differentially private learning
    with adaptive clipping", NeurIPS 2021.

    Examples
    --------
    >>> Acpc(G=2.0, tau_max=[5, 10])
    Acpc(beta='bound', G=2.0, steps='smallest', tau_min=1, tau_max=[5, 10])
    >>> Acpc(g=2.0)
    Traceback (most recent call last):
        ...
    TypeError: Acpc has no option 'g'; did you mean 'G'?
    """

    beta: Literal["bound", "previous", "realised"] = "bound"
    G: float | Literal["tracked"] = changed("0.3", default="tracked", earlier=0.5)
    steps: Literal["smallest", "largest"] = "smallest"
    tau_min: int = 1
    tau_max: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        choice("beta", self.beta, ("bound", "previous", "realised"))
        if isinstance(self.G, str) and self.G != "tracked":
            raise OptionError("G", 'a number > 0, or "tracked"', self.G)
        if not isinstance(self.G, str):
            number("G", self.G, above=0)
        choice("steps", self.steps, ("smallest", "largest"))
        integer("tau_min", self.tau_min, least=1)
        if self.tau_max is not None:
            limits = np.asarray(self.tau_max)
            if limits.ndim > 1 or limits.dtype.kind not in "iu" or (limits < 1).any():
                must = "a whole number >= 1, or one per client"
                raise OptionError("tau_max", must, self.tau_max)
            if (limits < self.tau_min).any():
                must = f"at least {self.tau_min}, the value of tau_min"
                raise OptionError("tau_max", must, self.tau_max)

    def plan(self, current: Round) -> Plan:
        """Announce the gain, and let clients train until their signals fit it."""
        limits = current.max_steps
        if self.tau_max is not None:
            most = np.asarray(self.tau_max)
            if most.ndim and len(most) != current.population:
                must = f"a scalar, or one value for each of the {current.population} devices"
                raise OptionError("tau_max", must, self.tau_max)
            limits = np.minimum(limits, most[current.clients] if most.ndim else most)
        gain = self._gain_beforehand(current)
        if gain is None:
            tracks = self.beta == "bound"
            return Plan(np.minimum(limits, self._few(limits)) if tracks else limits)
        return Plan(limits, gain, partial(self._fits, current, gain), self.steps == "largest")

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Send alpha_i Delta_i / tau_i, scaled down where it exceeds a budget."""
        signals = weighted(updates, current.weights / steps)  # Eq. (11) in [1], without beta_t
        # a client whose weight has grown since the gain was announced sends what it planned to
        gain = None if plan.gain is None else plan.gain / current.reweighting
        if gain is None or np.isinf(gain):  # no budget binds, or none was expected to
            gain = float(current.uplink.max_gain(signals))
        received, loads = sent_within(current, signals, gain)
        norms = np.linalg.norm(updates.astype(np.float64), axis=1) / steps
        known = current.weights > 0  # those who were late sent nothing
        state = {"clients": current.clients[known], "step_norms": norms[known]}
        if self.beta == "bound" and self.G == "tracked":
            slow = (steps > self._few(plan.steps)) & (self.steps == "smallest")
            state |= _next_bound(current, gain, loads, slow)
        # Eq. (12) in [1]: x_{t+1} = x_t + sum_i delta_i / beta_t + w_t / beta_t
        return Outcome(
            current.model + received.total, received, gain, loads > 1, state, sum_factor=1.0
        )

    def _gain_beforehand(self, current: Round) -> float | None:
        """Return beta_t; None if it is found from the updates."""
        if self.beta == "previous" and current.state:
            return _gain(current, _previous_norms(current))
        if self.beta != "bound":
            return None
        if self.G != "tracked":
            return _gain_of_bound(current, float(self.G))
        if "G" in current.state:
            return _gain_of_bound(current, float(current.state["G"]))
        gain = _gain_of_bound(current, 1.0)
        return gain if math.isinf(gain) else None  # where no budget binds, any G will do

    def _few(self, most: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the steps [m] after which half of the clients should fit, of the ``most``."""
        return np.maximum(np.ceil(np.sqrt(most)).astype(np.int64), self.tau_min)

    def _fits(self, current: Round, gain: float, step: int, updates: NDArray) -> NDArray[np.bool_]:
        """Return whether each client's signal after ``step`` steps is within its budget, [m]."""
        if step < self.tau_min:
            return np.zeros(len(updates), bool)
        return loads_at(current, gain, weighted(updates, current.weights / step)) <= 1


def _gain_of_bound(current: Round, bound: float) -> float:
    """Return beta_t = min_i sqrt(P_i) / (alpha_i eta G), of [1], section V, after Theorem 2."""
    return _gain(current, np.full(len(current.weights), current.rate * bound))


def _gain(current: Round, step_norms: NDArray) -> float:
    """Return the largest gain for updates of these norms per step, spread over all entries.

    P_i is what the channel leaves of the budget.
    """
    return float(current.uplink.max_gain(evenly_spread(current, current.weights * step_norms)))


def _previous_norms(current: Round) -> NDArray[np.float64]:
    """Return ||Delta_i|| / tau_i [m] of the previous round, the largest for those not in it."""
    norms = np.asarray(current.state["step_norms"])
    found = np.full(len(current.clients), norms.max())
    _, here, there = np.intersect1d(
        current.clients, current.state["clients"], assume_unique=True, return_indices=True
    )
    found[here] = norms[there]
    return found


def _next_bound(
    current: Round, gain: float, loads: NDArray[np.float64], slow: NDArray[np.bool_]
) -> dict[str, NDArray]:
    """Return the tracked G of the next round; nothing while no client has sent anything."""
    sends = loads > 0
    sending = loads[sends]
    if "G" in current.state:
        if not len(sending):
            return {"G": current.state["G"]}
        scaled_down, strained = (sending > 1).mean(), (slow[sends] | (sending > 1)).mean()
        return {"G": current.state["G"] * np.exp(max(scaled_down - SCALED_DOWN, strained - SLOW))}
    unit = _gain_of_bound(current, 1.0)
    if not len(sending) or math.isinf(unit):
        return {}
    return {"G": unit / gain * np.quantile(np.sqrt(sending), 1 - SCALED_DOWN)}
