"""Models as pure functions of a flat parameter vector, for all clients and runs at once.

Arrays of parameters and gradients are [m, S, d]: m clients, S runs, which share the minibatches of
their client, d parameters. Gradients are derived by hand; tests compare them with differences.
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

from otafl._base.names import options
from otafl._base.validation import OptionError, integer

SMALLEST_LOGIT = -30.0  # relative to the largest; exp of less would give slow denormal numbers
TESTED_AT_ONCE = 100  # samples: BLAS is several times slower at products much wider than that


@runtime_checkable
class Model(Protocol):
    """What training needs of a model: a pure function of a flat parameter vector.

    Shapes: m clients, S runs, d parameters, batches of B samples.
    """

    @property
    def size(self) -> int:
        """d, the number of parameters."""

    def initial(self, rng: np.random.Generator) -> NDArray:
        """Return the initial parameters [d]; their type is that of all parameters."""

    def features(self, x: NDArray) -> NDArray:
        """Return samples [n, ...] in the form in which the model takes them; called once.

        Bytes may stay bytes, which take a quarter of the memory; the other methods then see them
        as float32 from 0 to 255.
        """

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the gradient [m, S, d] of the mean loss of features [m, B, ...], labels [m, B]."""

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the mean loss of each batch, [m, S]."""

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return loss [S] and accuracy [S] of parameters [S, d] on features [n, ...]."""


class Classifier(ABC):
    """A model with a score for every class; the loss is the cross entropy of their softmax.

    Subclasses implement ``scores``, and the rest of :class:`Model`.
    """

    @abstractmethod
    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        """Return the scores [m, S, C, B] of parameters [m, S, d] on features [m, B, ...]."""

    def loss(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the mean loss of each batch, [m, S]."""
        return _cross_entropy(self.scores(params, x), y).mean(axis=-1)

    def test(self, params: NDArray, x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return loss [S] and accuracy [S] of parameters [S, d] on features [n, ...]."""
        loss, hits = np.zeros(len(params)), np.zeros(len(params))
        for start in range(0, len(y), TESTED_AT_ONCE):
            part = slice(start, start + TESTED_AT_ONCE)
            scores = self.scores(params[None], as_numbers(x[None, part]))
            loss += _cross_entropy(scores, y[None, part])[0].sum(axis=-1)
            hits += (scores[0].argmax(axis=1) == y[part]).sum(axis=-1)
        return loss / len(y), hits / len(y)


@options
@dataclass(frozen=True)
class LogisticRegression(Classifier):
    """Multinomial logistic regression with bias, the paper's model: d = 7850 on MNIST.

    Parameters
    ----------
    num_features : int
        Number of entries of a sample.
    num_classes : int
        Number of classes.

    Notes
    -----
    The parameters are a matrix with one row per class, whose last column holds the biases, row by
    row. Training starts at zero.

    Examples
    --------
    >>> LogisticRegression(num_features=784, num_classes=10).size
    7850
    """

    num_features: int
    num_classes: int

    def __post_init__(self) -> None:
        integer("num_features", self.num_features, least=1)
        integer("num_classes", self.num_classes, least=1)

    @property
    def size(self) -> int:
        """d, the number of parameters."""
        return self.num_classes * (self.num_features + 1)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return zeros [d]."""
        return np.zeros(self.size, np.float32)

    def features(self, x: NDArray) -> NDArray:
        """Return samples flattened, with a column of ones for the biases."""
        return _with_bias(x, self.num_features)

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        """Return the scores [m, S, C, B]."""
        return _linear(params.reshape(*params.shape[:2], self.num_classes, -1), x)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the gradient of the mean loss of each batch, [m, S, d]."""
        return _slope(_error(self.scores(params, x), y), x).reshape(params.shape)


@options
@dataclass(frozen=True)
class Mlp(Classifier):
    """A multilayer perceptron with rectified linear units.

    Parameters
    ----------
    num_features : int
        Number of entries of a sample.
    num_classes : int
        Number of classes.
    hidden : sequence of int
        Number of units in each hidden layer; one layer of 64 by default.

    Examples
    --------
    >>> Mlp(784, 10, hidden=(64,)).size
    50890
    """

    num_features: int
    num_classes: int
    hidden: Sequence[int] = (64,)

    def __post_init__(self) -> None:
        integer("num_features", self.num_features, least=1)
        integer("num_classes", self.num_classes, least=1)
        for layer, units in enumerate(self.hidden):
            integer(f"hidden[{layer}]", units, least=1)

    @property
    def _shapes(self) -> list[tuple[int, int]]:
        """Shape of each layer's matrix, whose last column holds the biases."""
        widths = [self.num_features, *self.hidden, self.num_classes]
        return [(out, into + 1) for into, out in pairwise(widths)]

    @property
    def size(self) -> int:
        """d, the number of parameters."""
        return sum(rows * columns for rows, columns in self._shapes)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw matrices as in He et al., "Delving deep into rectifiers", 2015; biases are zero."""
        layers = []
        for rows, columns in self._shapes:
            matrix = rng.standard_normal((rows, columns)) * math.sqrt(2 / (columns - 1))
            matrix[:, -1] = 0
            layers.append(matrix.ravel())
        return np.concatenate(layers).astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        """Return samples flattened, with a column of ones for the biases."""
        return _with_bias(x, self.num_features)

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        """Return the scores [m, S, C, B]."""
        return self._forward(self._matrices(params), x)[1]

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the gradient of the mean loss of each batch, [m, S, d]."""
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
        """Return views [m, S, rows, columns] of each layer."""
        views, start = [], 0
        for rows, columns in self._shapes:
            part = params[..., start : start + rows * columns]
            views.append(part.reshape(*params.shape[:2], rows, columns))
            start += rows * columns
        return views

    def _forward(self, matrices: list[NDArray], x: NDArray) -> tuple[list[NDArray], NDArray]:
        """Return the activations of each hidden layer, and the scores."""
        activations = []
        values = _linear(matrices[0], x)
        for matrix in matrices[1:]:
            activations.append(np.maximum(values, 0, out=values))
            values = matrix[..., :-1] @ values + matrix[..., -1:]
        return activations, values


def _with_bias(x: NDArray, num_features: int) -> NDArray:
    """Return samples flattened and with a column of ones for the biases, [n, num_features + 1].

    Bytes stay bytes, where 255 stands for one.
    """
    flat = x.reshape(len(x), -1)
    if flat.shape[1] != num_features:
        must = f"{flat.shape[1]}, the number of entries of samples of shape {x.shape[1:]}"
        raise OptionError("num_features", must, num_features)
    dtype, one = (np.uint8, 255) if x.dtype == np.uint8 else (np.float32, 1)
    features = np.full((len(flat), num_features + 1), one, dtype)
    features[:, :-1] = flat
    return features


def as_numbers(features: NDArray) -> NDArray:
    """Return features to compute with: bytes become float32."""
    return features.astype(np.float32) if features.dtype == np.uint8 else features


def _linear(matrix: NDArray, x: NDArray) -> NDArray:
    """Return [m, S, rows, B] from matrices [m, S, rows, columns] and features [m, B, columns].

    One product per client and run: with few rows, BLAS is no faster with all runs in one product.
    The last column of x tells what stands for one.
    """
    values = np.matmul(matrix, x.swapaxes(-1, -2)[:, None])
    values *= 1 / x[0, 0, -1]
    return values


def _slope(error: NDArray, x: NDArray) -> NDArray:
    """Return the gradient [m, S, rows, columns] of the matrix of ``_linear``; overwrites error."""
    error *= 1 / x[0, 0, -1]
    return np.matmul(error, x[:, None])


def _error(scores: NDArray, y: NDArray) -> NDArray:
    """Return the gradient [m, S, C, B] of the mean loss in the scores; overwrites them."""
    scores -= scores.max(axis=-2, keepdims=True)
    np.maximum(scores, SMALLEST_LOGIT, out=scores)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-2, keepdims=True)  # the softmax
    scores -= np.arange(scores.shape[-2])[:, None] == y[:, None, None]
    scores *= 1 / y.shape[-1]
    return scores


def _cross_entropy(scores: NDArray, y: NDArray) -> NDArray:
    """Return the cross entropy [m, S, B] of scores [m, S, C, B] and labels [m, B]."""
    shifted = scores - scores.max(axis=-2, keepdims=True)
    of_truth = np.take_along_axis(shifted, y[:, None, None], axis=-2)[..., 0, :]
    return np.log(np.exp(np.maximum(shifted, SMALLEST_LOGIT)).sum(axis=-2)) - of_truth
