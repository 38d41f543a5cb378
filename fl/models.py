"""Models as pure functions of a flat parameter vector, for all clients and trials at once.

Arrays of parameters and gradients are [m, S, d]: m clients, S trials, which share the minibatches
of their client, d parameters. Gradients are written out by hand, tests hold them to differences.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fl.checks import Count, checked

SMALLEST_LOGIT = -30.0  # relative to the largest; below, exp would give slow denormal numbers
TESTED_AT_ONCE = 100  # samples: BLAS is several times slower at products much wider than that


@runtime_checkable
class Model(Protocol):
    """What training needs of a model."""

    @property
    def size(self) -> int:
        """d, the number of parameters."""

    def initial(self, rng: np.random.Generator) -> NDArray:
        """[d], where training begins; its type is that of all parameters."""

    def features(self, x: NDArray) -> NDArray:
        """[n, ...], samples in the form in which the model takes them; done once for all.

        Bytes may stay bytes, a quarter of the memory to gather minibatches from; the other methods
        then see them as float32 from 0 to 255.
        """

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """[m, S, d] from features [m, B, ...] and labels [m, B]: of the mean loss of each batch."""

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """[m, S], the mean loss of each batch."""

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Loss [S] and accuracy [S] of parameters [S, d] on features [n, ...]."""


class Classifier(ABC):
    """A model that gives every class a score; the loss is the cross entropy of their softmax."""

    @abstractmethod
    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        """[m, S, C, B] of parameters [m, S, d] on features [m, B, ...]."""

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        return _cross_entropy(self.scores(params, x), y).mean(axis=-1)

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        loss, hits = np.zeros(len(params)), np.zeros(len(params))
        for start in range(0, len(y), TESTED_AT_ONCE):
            part = slice(start, start + TESTED_AT_ONCE)
            scores = self.scores(params[None], as_numbers(x[None, part]))
            loss += _cross_entropy(scores, y[None, part])[0].sum(axis=-1)
            hits += (scores[0].argmax(axis=1) == y[part]).sum(axis=-1)
        return loss / len(y), hits / len(y)


@dataclass(frozen=True)
class LogisticRegression(Classifier):
    """Multinomial logistic regression with bias, the paper's model: d = 7850 on MNIST.

    The parameters are a matrix of one row a class, its last column the biases. Training starts
    at zero.

    Examples
    --------
    >>> LogisticRegression(num_features=784, num_classes=10).size
    7850
    """

    num_features: int
    num_classes: int

    def __post_init__(self) -> None:
        checked("num_features", self.num_features, Count)
        checked("num_classes", self.num_classes, Count)

    @property
    def size(self) -> int:
        return self.num_classes * (self.num_features + 1)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        return np.zeros(self.size, np.float32)

    def features(self, x: NDArray) -> NDArray:
        return _with_bias(x, self.num_features)

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        return _linear(self._matrix(params), x)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        return _slope(_error(self.scores(params, x), y), x).reshape(params.shape)

    def _matrix(self, params: NDArray) -> NDArray:
        """[m, S, C, F + 1]."""
        return params.reshape(*params.shape[:2], self.num_classes, self.num_features + 1)


@dataclass(frozen=True)
class Mlp(Classifier):
    """Layers of rectified units, and one of scores.

    hidden : number of units in each hidden layer
    """

    num_features: int
    num_classes: int
    hidden: Sequence[int] = (64,)

    def __post_init__(self) -> None:
        checked("num_features", self.num_features, Count)
        checked("num_classes", self.num_classes, Count)
        checked("hidden", list(self.hidden), list[Count])

    @property
    def _shapes(self) -> list[tuple[int, int]]:
        """Of each layer's matrix, the last column of which are the biases."""
        widths = [self.num_features, *self.hidden, self.num_classes]
        return [(out, into + 1) for into, out in pairwise(widths)]

    @property
    def size(self) -> int:
        return sum(rows * columns for rows, columns in self._shapes)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """He et al., "Delving deep into rectifiers", 2015; biases zero."""
        layers = []
        for rows, columns in self._shapes:
            matrix = rng.standard_normal((rows, columns)) * math.sqrt(2 / (columns - 1))
            matrix[:, -1] = 0
            layers.append(matrix.ravel())
        return np.concatenate(layers).astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        return _with_bias(x, self.num_features)

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        return self._forward(self._matrices(params), x)[1]

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        matrices = self._matrices(params)
        activations, scores = self._forward(matrices, x)
        gradient = np.empty(params.shape, params.dtype)
        slopes = self._matrices(gradient)
        error = _error(scores, y)
        for layer in range(len(self.hidden), 0, -1):
            below = activations[layer - 1]  # [m, S, units, B]
            slopes[layer][..., :-1] = error @ below.swapaxes(-1, -2)
            slopes[layer][..., -1] = error.sum(axis=-1)
            error = matrices[layer][..., :-1].swapaxes(-1, -2) @ error
            error *= below > 0
        slopes[0][:] = _slope(error, x)
        return gradient

    def _matrices(self, params: NDArray) -> list[NDArray]:
        """Views [m, S, rows, columns] of each layer."""
        views, start = [], 0
        for rows, columns in self._shapes:
            part = params[..., start : start + rows * columns]
            views.append(part.reshape(*params.shape[:2], rows, columns))
            start += rows * columns
        return views

    def _forward(self, matrices: list[NDArray], x: NDArray) -> tuple[list[NDArray], NDArray]:
        """What each hidden layer gives, and the scores."""
        activations = []
        values = _linear(matrices[0], x)
        for matrix in matrices[1:]:
            activations.append(np.maximum(values, 0, out=values))
            values = matrix[..., :-1] @ values + matrix[..., -1:]
        return activations, values


def _with_bias(x: NDArray, num_features: int) -> NDArray:
    """[n, num_features + 1], flattened and with a column of ones, the input of the biases.

    Bytes stay bytes; there 255 is one.
    """
    flat = x.reshape(len(x), -1)
    if flat.shape[1] != num_features:
        raise ValueError(
            f"num_features = {num_features} does not fit samples of shape {x.shape[1:]}: they have "
            f"{flat.shape[1]} features"
        )
    dtype, one = (np.uint8, 255) if x.dtype == np.uint8 else (np.float32, 1)
    features = np.full((len(flat), num_features + 1), one, dtype)
    features[:, :-1] = flat
    return features


def as_numbers(features: NDArray) -> NDArray:
    """Features to compute with: bytes become float32."""
    return features.astype(np.float32) if features.dtype == np.uint8 else features


def _linear(matrix: NDArray, x: NDArray) -> NDArray:
    """[m, S, rows, B] from matrices [m, S, rows, columns] and features [m, B, columns].

    One product a client and trial: with few rows BLAS is no faster at all trials in one. The last
    column of x tells what counts as one.
    """
    values = np.matmul(matrix, x.swapaxes(-1, -2)[:, None])
    values *= 1 / x[0, 0, -1]
    return values


def _slope(error: NDArray, x: NDArray) -> NDArray:
    """[m, S, rows, columns], the gradient in the matrix of ``_linear``, in place of ``error``."""
    error *= 1 / x[0, 0, -1]
    return np.matmul(error, x[:, None])


def _softmax(scores: NDArray) -> NDArray:
    """Over the classes, in place."""
    scores -= scores.max(axis=-2, keepdims=True)
    np.maximum(scores, SMALLEST_LOGIT, out=scores)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-2, keepdims=True)
    return scores


def _error(scores: NDArray, y: NDArray) -> NDArray:
    """The gradient [m, S, C, B] of the mean loss in the scores, in place of them."""
    error = _softmax(scores)
    truth = np.arange(scores.shape[-2])[:, None] == y[:, None, None]
    error -= truth
    error *= 1 / y.shape[-1]
    return error


def _cross_entropy(scores: NDArray, y: NDArray) -> NDArray:
    """[m, S, B] of scores [m, S, C, B] and labels [m, B]."""
    shifted = scores - scores.max(axis=-2, keepdims=True)
    of_truth = np.take_along_axis(shifted, y[:, None, None], axis=-2)[..., 0, :]
    return np.log(np.exp(np.maximum(shifted, SMALLEST_LOGIT)).sum(axis=-2)) - of_truth
