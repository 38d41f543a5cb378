"""Models with gradients from TensorFlow and Keras."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    LogisticRegression,
)
from fl.autodiff import Cnn, KerasModel, TensorFlowModel
from tests.fl.models import keras_network


def test_tensorflow_computes_the_same_gradient(rng):
    """The same matrix in both layouts: [C, F + 1] here, [F, C] and [C] in Keras."""
    from tensorflow import keras

    network = keras.Sequential([keras.Input((36,)), keras.layers.Dense(4)])
    theirs, ours = KerasModel(network), LogisticRegression(36, 4)
    x = rng.random((1, 20, 36)).astype(np.float32)
    y = rng.integers(0, 4, (1, 20))
    matrix, bias = rng.standard_normal((36, 4)), rng.standard_normal(4)
    flat = np.concatenate([matrix.ravel(), bias]).astype(np.float32)[None, None]
    rows = np.column_stack([matrix.T, bias]).astype(np.float32).ravel()[None, None]
    gradient = theirs.gradient(flat, x, y)[0, 0]
    expected = np.column_stack([gradient[:144].reshape(36, 4).T, gradient[144:]]).ravel()
    with_ones = ours.features(x[0])[None]
    np.testing.assert_allclose(ours.gradient(rows, with_ones, y)[0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(ours.loss(rows, with_ones, y), theirs.loss(flat, x, y), rtol=1e-5)
    np.testing.assert_allclose(
        ours.test(rows[0], with_ones[0], y[0]), theirs.test(flat[0], x[0], y[0]), rtol=1e-5
    )


def test_keras_network_of_a_run(rng):
    """The weights of a run go back into Keras; a new run starts from the original weights."""
    network = keras_network((6, 6))
    before = [weight.copy() for weight in network.get_weights()]
    model = KerasModel(network)
    params = rng.standard_normal(model.size).astype(np.float32)
    x = rng.random((5, 6, 6)).astype(np.float32)
    predicted = model.loaded(params).predict(x, verbose=0)
    np.testing.assert_allclose(predicted, model.scores(params[None, None], x[None])[0, 0].T, 1e-5)
    np.testing.assert_array_equal(
        model.initial(rng), np.concatenate([weight.ravel() for weight in before])
    )


def test_user_defined_model_in_a_few_lines(rng):
    class Linear(TensorFlowModel):
        shapes = ((36, 4), (4,))

        def scores_of(self, weights, x):
            return x @ weights[0] + weights[1]

    model = Linear()
    params = rng.standard_normal((1, 1, model.size)).astype(np.float32)
    x = rng.random((1, 9, 36)).astype(np.float32)
    expected = x[0] @ params[0, 0, :144].reshape(36, 4) + params[0, 0, 144:]
    np.testing.assert_allclose(model.scores(params, x)[0, 0].T, expected, rtol=1e-4)


def test_refused():
    from tensorflow import keras

    layers = keras.layers
    with pytest.raises(ValueError, match="sample_shape must be .*, at least 4 x 4, got .3, 3."):
        Cnn((3, 3))
    with pytest.raises(ValueError, match="samples must be of shape .6, 6, 1., got .5, 5."):
        Cnn((6, 6)).features(np.zeros((3, 5, 5)))
    with pytest.raises(ValueError, match="network must be a Keras model with a known input shape"):
        KerasModel(keras.Sequential([layers.Dense(10)]))
    with pytest.raises(ValueError, match="moving_mean"):
        KerasModel(keras.Sequential([keras.Input((4,)), layers.BatchNormalization()]))
    flat = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    with pytest.raises(
        ValueError, match="samples must be of shape .4,., the input of the network, got .5,."
    ):
        KerasModel(flat).features(np.zeros((2, 5)))
    flat.layers[0].trainable = False
    with pytest.raises(
        ValueError, match="network must be a Keras model .*(weights to train|are all trained)"
    ):
        KerasModel(flat)
    with pytest.raises(
        ValueError, match="network must be .* one score per class, .* output is .None, 6, 10."
    ):
        KerasModel(keras.Sequential([keras.Input((6, 6)), layers.Dense(10)]))
    for ending in ([layers.Dense(3, "softmax")], [layers.Dense(3), layers.Softmax()]):
        with pytest.raises(ValueError, match="ends in a softmax"):
            KerasModel(keras.Sequential([keras.Input((4,)), *ending]))
    with pytest.raises(ValueError, match="num_classes must be a whole number >= 1, got 0"):
        Cnn(num_classes=0)
    for filters in ((8,), (8, 16, 32), (0, 3)):
        with pytest.raises(ValueError, match="filters.* must be .* got"):
            Cnn(filters=filters)
    with pytest.raises(TypeError, match="Cnn has no option 'classes'"):
        Cnn(classes=3)
