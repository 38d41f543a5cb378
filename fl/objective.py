"""The objective itself, over all samples of all clients: for theory and measurement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fl.local import ClientData
from fl.models import Model

WORKED_ON_AT_ONCE = 100  # samples: BLAS is slower at products much wider than that


def client_gradients(
    model: Model, clients: ClientData, params: NDArray, weight_decay: float = 0.0
) -> NDArray:
    """[m, S, d], the gradients of F_i + lambda/2 ||x||^2 at ``params`` [S, d] or [m, S, d]."""
    points = np.broadcast_to(params, (clients.num_clients, *params.shape[-2:]))
    gradients = np.zeros(points.shape, points.dtype)
    for client, shard in enumerate(clients.shards):
        for samples in _pieces(shard):
            here = np.ascontiguousarray(points[client : client + 1])
            part = model.gradient(here, *clients.batch_of(samples))[0]
            gradients[client] += part * points.dtype.type(len(samples) / len(shard))
    return gradients + points.dtype.type(weight_decay) * points


def client_losses(
    model: Model, clients: ClientData, params: NDArray, weight_decay: float = 0.0
) -> NDArray[np.float64]:
    """[m, S], F_i + lambda/2 ||x||^2 at ``params`` [S, d]."""
    losses = np.zeros((clients.num_clients, len(params)))
    for client, shard in enumerate(clients.shards):
        for samples in _pieces(shard):
            part = model.loss(params[None], *clients.batch_of(samples))[0]
            losses[client] += part * (len(samples) / len(shard))
    return losses + weight_decay / 2 * np.square(params, dtype=np.float64).sum(axis=-1)


def _pieces(shard: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(shard, range(WORKED_ON_AT_ONCE, len(shard), WORKED_ON_AT_ONCE))
