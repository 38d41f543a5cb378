"""Models: gradients against differences, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from fl import LogisticRegression, Mlp, Model, Quadratic
from fl.autodiff import Cnn, KerasModel, TensorFlowModel


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
CLIENTS, TRIALS, BATCH = 3, 2, 8


def case(name, rng):
    model, shape = MODELS[name](rng)
    x = rng.random((CLIENTS * BATCH, *shape))
    features = model.features(x if name == "quadratic" else x.astype(np.float32))
    features = features.reshape(CLIENTS, BATCH, *features.shape[1:])
    y = rng.integers(0, 4, (CLIENTS, BATCH))
    params = rng.standard_normal((CLIENTS, TRIALS, model.size)) * 0.5
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
def test_clients_and_trials_do_not_mix(name, rng):
    model, params, x, y = case(name, rng)
    together = model.gradient(params, x, y)
    losses = model.loss(params, x, y)
    for client in range(CLIENTS):
        for trial in range(TRIALS):
            here = np.s_[client : client + 1]
            alone = params[here, trial : trial + 1]
            np.testing.assert_allclose(
                model.gradient(alone, x[here], y[here])[0, 0], together[client, trial], atol=1e-5
            )
            np.testing.assert_allclose(
                model.loss(alone, x[here], y[here])[0, 0], losses[client, trial], rtol=1e-5
            )


def test_tensorflow_finds_the_same_gradient(rng):
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


def test_bytes_are_brightness(rng):
    """255 is one, for all models alike."""
    x = rng.integers(0, 256, (10, 6, 6), dtype=np.uint8)
    y = rng.integers(0, 4, (1, 10))
    for model in (LogisticRegression(36, 4), Mlp(36, 4), Cnn((6, 6), 4)):
        params = rng.standard_normal((1, 1, model.size)).astype(np.float32)
        from_bytes = model.gradient(params, model.features(x)[None], y)
        from_floats = model.gradient(params, model.features(x / np.float32(255))[None], y)
        np.testing.assert_allclose(from_bytes, from_floats, atol=1e-5)


def test_size_and_start(rng):
    assert LogisticRegression(784, 10).size == 7850
    assert not LogisticRegression(784, 10).initial(rng).any()
    assert Mlp(784, 10, hidden=(64,)).size == 785 * 64 + 65 * 10
    assert Cnn().size == 9098
    start = Mlp(784, 10, hidden=(500,)).initial(rng)[: 785 * 500].reshape(500, 785)
    assert not start[:, -1].any()
    assert abs(start[:, :-1].var() / (2 / 784) - 1) < 5 * np.sqrt(2 / (500 * 784))


def test_loss_of_hopeless_scores():
    """Large scores of a wrong class: the loss is their difference, and nothing overflows."""
    model = LogisticRegression(1, 2)
    params = np.array([[[0, 0, 0, 500]]], np.float32)  # class 1 leads by 500
    x = model.features(np.zeros((1, 1), np.float32))[None]
    assert model.loss(params, x, np.array([[0]]))[0, 0] == pytest.approx(500)
    assert model.loss(params, x, np.array([[1]]))[0, 0] == pytest.approx(0)
    gradient = model.gradient(params, x, np.array([[0]]))
    np.testing.assert_allclose(gradient[0, 0], [0, -1, 0, 1], atol=1e-6)


def test_accuracy_counts_the_best_score(rng):
    model = LogisticRegression(3, 3)
    identity = np.column_stack([np.eye(3), np.zeros(3)]).astype(np.float32).ravel()
    swapped = np.column_stack([np.eye(3)[[1, 0, 2]], np.zeros(3)]).astype(np.float32).ravel()
    labels = np.array([0, 1, 2] * 1001)
    x = model.features(np.eye(3, dtype=np.float32)[labels])
    loss, accuracy = model.test(np.array([identity, swapped]), x, labels)
    np.testing.assert_allclose(accuracy, [1, 1 / 3])
    np.testing.assert_allclose(loss[0], -np.log(np.e / (np.e + 2)), rtol=1e-5)


def test_keras_network_of_a_run(rng):
    """Back in Keras with the weights of a run, which begins anew where the network did."""
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


def test_own_model_in_a_few_lines(rng):
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
    with pytest.raises(ValueError, match="num_features = 10 does not fit samples of shape .6, 6."):
        LogisticRegression(10, 4).features(np.zeros((3, 6, 6)))
    with pytest.raises(ValueError, match="num_classes = 0"):
        LogisticRegression(10, 0)
    with pytest.raises(ValueError, match="hidden = .0."):
        Mlp(10, 4, hidden=(0,))
    with pytest.raises(ValueError, match="sample_shape = .3, 3."):
        Cnn((3, 3))
    with pytest.raises(ValueError, match="do not fit an image"):
        Cnn((6, 6)).features(np.zeros((3, 5, 5)))
    with pytest.raises(ValueError, match="give a Keras model that knows the shape"):
        KerasModel(keras.Sequential([layers.Dense(10)]))
    with pytest.raises(ValueError, match="moving_mean"):
        KerasModel(keras.Sequential([keras.Input((4,)), layers.BatchNormalization()]))
    flat = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    with pytest.raises(ValueError, match="samples of shape .5,. do not fit a network for .4,."):
        KerasModel(flat).features(np.zeros((2, 5)))
    flat.layers[0].trainable = False
    with pytest.raises(ValueError, match="give a Keras model|are not trained"):
        KerasModel(flat)
    with pytest.raises(ValueError, match="where one score a class is needed"):
        KerasModel(keras.Sequential([keras.Input((6, 6)), layers.Dense(10)]))
    for ending in ([layers.Dense(3, "softmax")], [layers.Dense(3), layers.Softmax()]):
        with pytest.raises(ValueError, match="ends in a softmax"):
            KerasModel(keras.Sequential([keras.Input((4,)), *ending]))
    with pytest.raises(ValueError, match="not all positive definite"):
        Quadratic(-np.eye(2)[None])
    with pytest.raises(ValueError, match="finite and symmetric"):
        Quadratic(np.array([[[1.0, 1], [0, 1]]]))
