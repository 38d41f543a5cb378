"""Gradients of all models, compared with differences and with each other."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    LogisticRegression,
    Mlp,
    Model,
)
from fl.autodiff import Cnn
from tests.fl.models import MODELS

CLIENTS, RUNS, BATCH = 3, 2, 8


def case(name, rng):
    model, shape = MODELS[name](rng)
    x = rng.random((CLIENTS * BATCH, *shape))
    features = model.features(x if name == "quadratic" else x.astype(np.float32))
    features = features.reshape(CLIENTS, BATCH, *features.shape[1:])
    y = rng.integers(0, 4, (CLIENTS, BATCH))
    params = rng.standard_normal((CLIENTS, RUNS, model.size)) * 0.5
    return model, params.astype(model.initial(rng).dtype), features, y


@pytest.mark.parametrize("name", MODELS)
def test_gradient_is_that_of_the_loss(name, rng):
    """Along random directions, by central differences of fourth order.

    In float64, with steps too small to meet the kink of a rectifier; Keras has its weights in
    float32, and this network of it has no kinks.
    """
    model, params, x, y = case(name, rng)
    assert isinstance(model, Model)
    step, tolerance = 1e-2, 3e-3
    if name != "keras":
        params, x = params.astype(np.float64), x.astype(np.float64)
        step, tolerance = 1e-6, 1e-7
    gradient = model.gradient(params, x, y)
    assert gradient.shape == params.shape
    for _ in range(5):
        direction = rng.standard_normal(params.shape)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)

        def loss(times, direction=direction):
            moved = (params + times * step * direction).astype(params.dtype)
            return model.loss(moved, x, y).astype(np.float64)

        slope = (8 * (loss(1) - loss(-1)) - (loss(2) - loss(-2))) / (12 * step)
        expected = np.einsum("msd,msd->ms", gradient, direction)
        scale = 1 + np.linalg.norm(gradient, axis=-1)
        assert (np.abs(slope - expected) < tolerance * scale).all()


@pytest.mark.parametrize("name", ["logistic regression", "perceptron", "deep perceptron"])
def test_every_entry_of_the_gradient(name, rng):
    model, params, x, y = case(name, rng)
    params, x = params.astype(np.float64), x.astype(np.float64)
    gradient = model.gradient(params, x, y)
    step = 1e-6
    for entry in range(model.size):
        ahead, behind = params.copy(), params.copy()
        ahead[..., entry] += step
        behind[..., entry] -= step
        slope = (model.loss(ahead, x, y) - model.loss(behind, x, y)) / (2 * step)
        np.testing.assert_allclose(gradient[..., entry], slope, atol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_clients_and_runs_do_not_mix(name, rng):
    model, params, x, y = case(name, rng)
    together = model.gradient(params, x, y)
    losses = model.loss(params, x, y)
    for client in range(CLIENTS):
        for run in range(RUNS):
            here = np.s_[client : client + 1]
            alone = params[here, run : run + 1]
            np.testing.assert_allclose(
                model.gradient(alone, x[here], y[here])[0, 0], together[client, run], atol=1e-5
            )
            np.testing.assert_allclose(
                model.loss(alone, x[here], y[here])[0, 0], losses[client, run], rtol=1e-5
            )


def test_bytes_are_brightness(rng):
    """255 stands for one, in all models."""
    x = rng.integers(0, 256, (10, 6, 6), dtype=np.uint8)
    y = rng.integers(0, 4, (1, 10))
    for model in (LogisticRegression(36, 4), Mlp(36, 4), Cnn((6, 6), 4)):
        params = rng.standard_normal((1, 1, model.size)).astype(np.float32)
        from_bytes = model.gradient(params, model.features(x)[None], y)
        from_floats = model.gradient(params, model.features(x / np.float32(255))[None], y)
        np.testing.assert_allclose(from_bytes, from_floats, atol=1e-5)
