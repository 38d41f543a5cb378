"""Estimates of L, sigma^2, G and F(x_0) - F(x*) from a problem and a run, for Theorem 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fl.api import Rng
from fl.client_data import ClientData
from fl.history import History
from fl.models import Model
from fl.objective import client_gradients, client_losses
from fl.problem import Problem
from fl.streams import Purpose, stream
from fl.theory import Constants
from otafl._base.names import check_names
from otafl._base.validation import OptionError

POWER_ITERATIONS = 30
MINIBATCHES = 30


@check_names
def estimate_constants(
    history: History, problem: Problem, *, lowest_loss: float = 0.0
) -> Constants:
    """Estimate the constants of Theorem 2 at the first and the last model of a run.

    Parameters
    ----------
    history : History
        The run.
    problem : Problem
        What it was trained on.
    lowest_loss : float
        Lower bound on F(x*), which is not known; 0 by default, which holds for all losses of this
        package.

    Returns
    -------
    Constants
        L, the largest curvature of a client's objective, by power iteration on differences of its
        gradient; sigma^2, the largest variance of a client's minibatch gradient; G, the largest
        stochastic gradient of the run; and the gap F(x_0) - ``lowest_loss``.

    Raises
    ------
    ValueError
        If the run has no rounds.
    """
    if not history.num_rounds:
        raise OptionError("history", "a run with at least one round", history)
    model, clients = problem.model, ClientData.of(problem)
    decay = history.sgd.weight_decay
    points = np.array([history.start, history.model])
    rng = stream(0, 0, Purpose.CONSTANTS)
    loss = problem.weights @ client_losses(model, clients, points[:1], decay)[:, 0]
    return Constants(
        smoothness=_smoothness(model, clients, points, decay, rng),
        gradient_variance=_gradient_variance(model, clients, points, history.sgd.batch_size, rng),
        gradient_bound=float(history["largest_gradient"].max()),
        gap=max(0.0, float(loss) - lowest_loss),
    )


def _smoothness(
    model: Model, clients: ClientData, points: NDArray, decay: float, rng: Rng
) -> float:
    """Return max_i ||Hessian of F_i||, with H v = (grad F_i(x + h v) - grad F_i(x - h v)) / 2h."""
    direction = rng.standard_normal((clients.num_clients, *points.shape))
    largest = np.zeros(1)
    scale = np.sqrt(np.finfo(points.dtype).eps) ** 0.5 * (1 + np.linalg.norm(points, axis=-1))
    step = scale[:, None]
    for _ in range(POWER_ITERATIONS):
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        ends = [(points + sign * step * direction).astype(points.dtype) for sign in (1, -1)]
        ahead, behind = (client_gradients(model, clients, end) for end in ends)
        turned = (ahead.astype(np.float64) - behind) / (2 * step)
        largest = np.linalg.norm(turned, axis=-1)
        direction = np.where(largest[..., None] > 0, turned, direction)
    return float(largest.max()) + decay


def _gradient_variance(
    model: Model, clients: ClientData, points: NDArray, batch_size: int | None, rng: Rng
) -> float:
    """Return max_i E||minibatch gradient - gradient||^2; zero for full batches."""
    if batch_size is None:
        return 0.0
    everyone = np.arange(clients.num_clients)
    models = np.broadcast_to(points, (clients.num_clients, *points.shape)).copy()
    truth = client_gradients(model, clients, points)
    total = np.zeros(truth.shape[:2])
    for _, batches_of in zip(range(MINIBATCHES), clients.batches(batch_size, rng), strict=False):
        for who, x, y in batches_of(everyone):
            error = model.gradient(models[who], x, y) - truth[who]
            total[who] += np.square(error).sum(axis=-1)
    return float(total.max() / MINIBATCHES)
