"""Optimisers at the server: momentum, Adam and Yogi, applied to what an aggregation delivers.

[1] S. J. Reddi, Z. Charles, M. Zaheer, Z. Garrett, K. Rush, J. Konecny, S. Kumar and H. B. McMahan,
"Adaptive federated optimization", ICLR 2021.

=============  ==================================================================
paper          here
=============  ==================================================================
Delta_t        D, the change of the model that ``aggregation`` would make
m_t, v_t       ``Outcome.state["m"]``, ``Outcome.state["v"]``
eta            ``server_step``
beta_1         ``beta1``
beta_2         ``beta2``
tau            ``epsilon`` (tau counts local steps here)
=============  ==================================================================

D depends on the aggregation: sum_i alpha_i Delta_i with :class:`fl.Cotaf` and :class:`fl.FedAvg`,
sum_i alpha_i Delta_i / tau_i with :class:`fl.Acpc`, plus the channel's noise.

Noise of variance s^2 in an entry of D adds s^2 to the expectation of D^2. Where s^2 is known, it
can be subtracted in v; this is our addition to the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm, Outcome, Plan, Round
from fl.cotaf import Cotaf
from fl.wrapping import Wrapper, check_aggregation, inner_round, inner_state
from otafl._base.names import options
from otafl._base.validation import OptionError, boolean, number


@options
@dataclass(frozen=True)
class FedAvgM(Wrapper):
    """FedAvgM: momentum at the server, over any aggregation.

    Parameters
    ----------
    aggregation : Algorithm
        The algorithm that sends and aggregates the updates; ``Cotaf()`` by default.
    server_step : float
        eta_s > 0, the learning rate of the server; 1 by default.
    beta1 : float
        Decay of the momentum, from 0 to below 1; 0.9 by default. With ``beta1=0`` and
        ``server_step=1`` this is the aggregation alone.

    Notes
    -----
    With D_t the change that the aggregation would make, and m = 0 at the beginning, as in [1],
    S. J. Reddi et al., "Adaptive federated optimization", 2021::

        m_t = beta1 m_{t-1} + (1 - beta1) D_t
        x_{t+1} = x_t + eta_s m_t

    Examples
    --------
    >>> FedAvgM(beta1=0.5).num_entries(7850)
    7850
    """

    aggregation: Algorithm = field(default_factory=Cotaf)
    server_step: float = 1.0
    beta1: float = 0.9

    def __post_init__(self) -> None:
        check_aggregation(self.aggregation)
        number("server_step", self.server_step, above=0)
        _decay("beta1", self.beta1)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Let the aggregation deliver D, and take a step along its moving average."""
        inner = self.aggregation.aggregate(inner_round(current), plan, updates, steps)
        m = _first_moment(current, self.beta1, _change(current, inner))
        moved = _moved(current, inner, self.server_step * m, {"m": m})
        if inner.sum_factor is None:
            return moved
        return replace(moved, sum_factor=self.server_step * (1 - self.beta1) * inner.sum_factor)


@options
@dataclass(frozen=True)
class FedAdam(Wrapper):
    """FedAdam: Adam at the server, over any aggregation.

    Parameters
    ----------
    aggregation : Algorithm
        The algorithm that sends and aggregates the updates; ``Cotaf()`` by default.
    server_step : float
        eta_s > 0, the learning rate of the server; 0.01 by default.
    beta1, beta2 : float
        Decays of the two moments, from 0 to below 1; 0.9 and 0.99 by default.
    epsilon : float
        Adaptivity > 0, the paper's tau: entries that move by much less are hardly scaled up; 1e-3
        by default.
    remove_noise : bool
        Whether v uses max(D^2 - s^2, 0), with the variance s^2 of the noise in an entry of D, in
        place of D^2; False by default. This is not part of the paper. The noise must have the same
        level in all entries, as on :class:`links.GaussianLink`.

    Notes
    -----
    With D_t the change that the aggregation would make, m = 0 and v = epsilon^2 at the beginning,
    and all operations entry by entry, Algorithm 2 of [1], S. J. Reddi et al., "Adaptive federated
    optimization", 2021, which does not correct the bias of the moments::

        m_t = beta1 m_{t-1} + (1 - beta1) D_t
        v_t = beta2 v_{t-1} + (1 - beta2) D_t^2
        x_{t+1} = x_t + eta_s m_t / (sqrt(v_t) + epsilon)

    Examples
    --------
    >>> FedAdam(server_step=0.1, epsilon=1e-2).beta2
    0.99
    """

    aggregation: Algorithm = field(default_factory=Cotaf)
    server_step: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-3
    remove_noise: bool = False

    def __post_init__(self) -> None:
        _check_adaptive(self)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Let the aggregation deliver D, and take a step of Adam."""
        inner = self.aggregation.aggregate(inner_round(current), plan, updates, steps)
        return _adapted(self, current, inner, lambda v, square: v + (1 - self.beta2) * (square - v))


@options
@dataclass(frozen=True)
class FedYogi(Wrapper):
    """FedYogi: Yogi at the server, over any aggregation.

    Parameters
    ----------
    aggregation : Algorithm
        The algorithm that sends and aggregates the updates; ``Cotaf()`` by default.
    server_step : float
        eta_s > 0, the learning rate of the server; 0.01 by default.
    beta1, beta2 : float
        Decays of the two moments, from 0 to below 1; 0.9 and 0.99 by default.
    epsilon : float
        Adaptivity > 0, the paper's tau: entries that move by much less are hardly scaled up; 1e-3
        by default.
    remove_noise : bool
        Whether v uses max(D^2 - s^2, 0), with the variance s^2 of the noise in an entry of D, in
        place of D^2; False by default. This is not part of the paper. The noise must have the same
        level in all entries, as on :class:`links.GaussianLink`.

    Notes
    -----
    As :class:`fl.FedAdam`, but v changes by (1 - beta2) D^2, up or down, whatever its distance from
    D^2 (Algorithm 2 of [1], S. J. Reddi et al., "Adaptive federated optimization", 2021)::

        v_t = v_{t-1} - (1 - beta2) D_t^2 sign(v_{t-1} - D_t^2)

    Examples
    --------
    >>> FedYogi(server_step=0.1, epsilon=1e-2).beta2
    0.99
    """

    aggregation: Algorithm = field(default_factory=Cotaf)
    server_step: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-3
    remove_noise: bool = False

    def __post_init__(self) -> None:
        _check_adaptive(self)

    def aggregate(self, current: Round, plan: Plan, updates: NDArray, steps: NDArray) -> Outcome:
        """Let the aggregation deliver D, and take a step of Yogi."""
        inner = self.aggregation.aggregate(inner_round(current), plan, updates, steps)
        return _adapted(
            self,
            current,
            inner,
            lambda v, square: v - (1 - self.beta2) * square * np.sign(v - square),
        )


def _decay(name: str, value: float) -> None:
    if number(name, value, least=0) >= 1:
        raise OptionError(name, "a number >= 0 and < 1", value)


def _check_adaptive(optimiser: FedAdam | FedYogi) -> None:
    check_aggregation(optimiser.aggregation)
    number("server_step", optimiser.server_step, above=0)
    _decay("beta1", optimiser.beta1)
    _decay("beta2", optimiser.beta2)
    number("epsilon", optimiser.epsilon, above=0)
    boolean("remove_noise", optimiser.remove_noise)


def _adapted(
    optimiser: FedAdam | FedYogi,
    current: Round,
    inner: Outcome,
    second_moment: Callable[[NDArray, NDArray], NDArray],
) -> Outcome:
    """Return the outcome after a step of eta_s m / (sqrt(v) + epsilon)."""
    change = _change(current, inner)
    square = np.square(change)
    if optimiser.remove_noise:
        square = np.maximum(square - _noise_variance(inner), 0)
    first = np.full(len(change), optimiser.epsilon**2)
    m = _first_moment(current, optimiser.beta1, change)
    v = second_moment(current.state.get("v", first), square)
    move = optimiser.server_step * m / (np.sqrt(v) + optimiser.epsilon)
    return _moved(current, inner, move, {"m": m, "v": v})


def _change(current: Round, inner: Outcome) -> NDArray[np.float64]:
    """Return D, [d]: the change of the model that the aggregation would make."""
    return inner.model.astype(np.float64) - current.model


def _first_moment(current: Round, beta1: float, change: NDArray) -> NDArray[np.float64]:
    m = current.state.get("m", np.zeros(len(change)))
    return beta1 * m + (1 - beta1) * change


def _moved(
    current: Round, inner: Outcome, move: NDArray, moments: Mapping[str, NDArray]
) -> Outcome:
    """Return the outcome of the aggregation with the model that the optimiser makes of it."""
    model = (current.model + move).astype(current.model.dtype)
    return replace(
        inner, model=model, state={**inner_state(inner.state), **moments}, sum_factor=None
    )


def _noise_variance(inner: Outcome) -> float:
    """Return s^2, the variance of the noise in an entry of D."""
    std = float(inner.reception.diagnostics.get("sum_noise_std", np.nan))
    if np.isnan(std):
        must = "False over a link whose noise has no single known level"
        raise OptionError("remove_noise", must, True)
    if inner.sum_factor is None:
        must = "False with an aggregation that does not state Outcome.sum_factor"
        raise OptionError("remove_noise", must, True)
    return (inner.sum_factor * std / inner.gain) ** 2
