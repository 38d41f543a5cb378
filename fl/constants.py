"""Estimates of L, sigma, G and F(x_0) - F(x*) for a problem and a run, for Theorem 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fl.data import Dataset
from fl.history import History
from fl.local import ClientData
from fl.models import Model
from fl.objective import client_gradients, client_losses
from fl.partition import Shards, weights_of
from fl.streams import Purpose, stream
from fl.theory import Constants

POWER_ITERATIONS = 30
MINIBATCHES = 30


def estimate_constants(
    history: History,
    model: Model,
    data: Dataset,
    shards: Shards,
    *,
    lowest_loss: float = 0.0,
) -> Constants:
    """From the problem at the first and at the last model of a run, and from its history.

    L is the largest curvature of a client's objective there, by power iteration on differences of
    its gradient; sigma^2 the largest variance of a client's minibatch gradient there; G the largest
    stochastic gradient of the run. F(x*) is not known: ``lowest_loss`` is a bound below it, zero
    for all losses of this package.
    """
    if not len(history):
        raise ValueError("the run has no round to estimate from")
    clients = ClientData(model, data, shards)
    decay = history.sgd.weight_decay
    points = np.array([history.start, history.model])
    rng = stream(0, 0, Purpose.CONSTANTS)
    loss = weights_of(clients.shards) @ client_losses(model, clients, points[:1], decay)[:, 0]
    return Constants(
        smoothness=_smoothness(model, clients, points, decay, rng),
        gradient_variance=_gradient_variance(model, clients, points, history.sgd.batch_size, rng),
        gradient_bound=float(history["largest_gradient"].max()),
        gap=max(0.0, float(loss) - lowest_loss),
    )


def _smoothness(
    model: Model, clients: ClientData, points: NDArray, decay: float, rng: np.random.Generator
) -> float:
    """max_i ||Hessian of F_i||, H v by (grad F_i(x + h v) - grad F_i(x - h v)) / 2h."""
    shape = (clients.num_clients, *points.shape)
    direction = rng.standard_normal(shape)
    largest = np.zeros(1)
    scale = np.sqrt(np.finfo(points.dtype).eps) ** 0.5 * (1 + np.linalg.norm(points, axis=-1))
    step = scale[:, None]
    for _ in range(POWER_ITERATIONS):
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        ends = [
            client_gradients(
                model, clients, (points + sign * step * direction).astype(points.dtype)
            )
            for sign in (1, -1)
        ]
        turned = (ends[0].astype(np.float64) - ends[1]) / (2 * step)
        largest = np.linalg.norm(turned, axis=-1)
        direction = np.where(largest[..., None] > 0, turned, direction)
    return float(largest.max()) + decay


def _gradient_variance(
    model: Model,
    clients: ClientData,
    points: NDArray,
    batch_size: int | None,
    rng: np.random.Generator,
) -> float:
    """max_i E||minibatch gradient - gradient||^2; zero for full batches."""
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
