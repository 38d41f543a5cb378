"""The objective over all samples of all clients, for theory and measurement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fl.client_data import ClientData
from fl.models import Model

PIECE = 100  # samples: BLAS is slower at products much wider than that


def client_gradients(
    model: Model, clients: ClientData, params: NDArray, weight_decay: float = 0.0
) -> NDArray:
    """Return the gradients [m, S, d] of F_i + lambda/2 ||x||^2 at params [S, d] or [m, S, d]."""
    points = np.broadcast_to(params, (clients.num_clients, *params.shape[-2:]))
    gradients = np.zeros(points.shape, points.dtype)
    for client, share, batch in _pieces(clients):
        here = np.ascontiguousarray(points[client : client + 1])
        gradients[client] += model.gradient(here, *batch)[0] * points.dtype.type(share)
    return gradients + points.dtype.type(weight_decay) * points


def client_losses(
    model: Model, clients: ClientData, params: NDArray, weight_decay: float = 0.0
) -> NDArray[np.float64]:
    """Return F_i + lambda/2 ||x||^2 [m, S] at ``params`` [S, d]."""
    losses = np.zeros((clients.num_clients, len(params)))
    for client, share, batch in _pieces(clients):
        losses[client] += model.loss(params[None], *batch)[0] * share
    return losses + weight_decay / 2 * np.square(params, dtype=np.float64).sum(axis=-1)


def _pieces(clients: ClientData) -> Iterator[tuple[int, float, tuple[NDArray, NDArray]]]:
    """Yield batches of all samples, each with its client and its share of the client's samples."""
    for client, shard in enumerate(clients.shards):
        for samples in np.split(shard, range(PIECE, len(shard), PIECE)):
            yield client, len(samples) / len(shard), clients.batch_of(samples)
