"""Small models of every kind, with data that fits them."""

from __future__ import annotations

import numpy as np

from fl import (
    LogisticRegression,
    Mlp,
    Quadratic,
)
from fl.autodiff import Cnn, KerasModel


def keras_network(shape, units=5):
    from tensorflow import keras

    layers = keras.layers
    return keras.Sequential(
        [keras.Input(shape), layers.Flatten(), layers.Dense(units, "tanh"), layers.Dense(4)]
    )


def quadratic(rng):
    roots = rng.standard_normal((4, 6, 6))
    return Quadratic(roots @ roots.swapaxes(1, 2) + np.eye(6))


MODELS = {
    "logistic regression": lambda rng: (LogisticRegression(36, 4), (6, 6)),
    "perceptron": lambda rng: (Mlp(36, 4, hidden=(7,)), (6, 6)),
    "deep perceptron": lambda rng: (Mlp(36, 4, hidden=(7, 5)), (6, 6)),
    "convolutions": lambda rng: (Cnn((6, 6), 4, filters=(2, 3)), (6, 6)),
    "colour": lambda rng: (Cnn((6, 6, 3), 4, filters=(2, 3)), (6, 6, 3)),
    "keras": lambda rng: (KerasModel(keras_network((6, 6))), (6, 6)),
    "quadratic": lambda rng: (quadratic(rng), (6,)),
}
