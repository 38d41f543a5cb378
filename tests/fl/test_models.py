"""Logistic regression and perceptrons."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    LogisticRegression,
    Mlp,
)
from fl.autodiff import Cnn


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


def test_refused():
    must = "num_features must be 36, .* samples of shape .6, 6., got 10"
    with pytest.raises(ValueError, match=must):
        LogisticRegression(10, 4).features(np.zeros((3, 6, 6)))
    with pytest.raises(ValueError, match="num_classes must be a whole number >= 1, got 0"):
        LogisticRegression(10, 0)
    with pytest.raises(ValueError, match="hidden.0. must be a whole number >= 1, got 0"):
        Mlp(10, 4, hidden=(0,))
