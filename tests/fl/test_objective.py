"""The objective over all samples, computed piece by piece."""

from __future__ import annotations

import numpy as np

from fl import LogisticRegression, Problem
from fl.client_data import ClientData
from fl.objective import client_gradients, client_losses
from tests.fl.problems import blobs


def test_pieces_add_up_to_the_whole(rng):
    """The mean over all samples of a client, plus weight decay."""
    data = blobs(rng)
    shards = [np.arange(250), np.arange(250, 257)]
    model = LogisticRegression(12, 4)
    clients = ClientData.of(Problem(model, data, shards))
    points = rng.standard_normal((3, model.size))
    gradients = client_gradients(model, clients, points, 0.1)
    losses = client_losses(model, clients, points, 0.1)
    for client, shard in enumerate(shards):
        whole = clients.batch_of(shard)
        expected = model.gradient(points[None], *whole)[0] + 0.1 * points
        np.testing.assert_allclose(gradients[client], expected, rtol=1e-6, atol=1e-8)
        decay = 0.05 * np.square(points).sum(axis=1)
        np.testing.assert_allclose(losses[client], model.loss(points[None], *whole)[0] + decay)
