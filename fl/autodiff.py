"""Models whose gradients TensorFlow finds: a small CNN, and any Keras model.

One client and one trial after the other, in one compiled function; slower than
:mod:`fl.models`, and open to whatever can be written down.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fl.checks import Count, checked
from fl.models import Classifier
from fl.quiet import tensorflow


class TensorFlowModel(Classifier):
    """Whoever inherits gives the shapes of its weights and the scores of a batch.

    Examples
    --------
    Logistic regression once more:

    >>> class Linear(TensorFlowModel):
    ...     shapes = ((784, 10), (10,))
    ...
    ...     def scores_of(self, weights, x):  # x [B, 28, 28] to [B, 10]
    ...         import tensorflow as tf
    ...
    ...         return tf.reshape(x, (-1, 784)) @ weights[0] + weights[1]
    >>> Linear().size
    7850
    """

    shapes: Sequence[tuple[int, ...]]

    @abstractmethod
    def scores_of(self, weights: list[Any], x: Any) -> Any:
        """Tensor [B, C] from tensors of the ``shapes`` and of the samples, float32 [B, ...]."""

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Matrices and filters as He et al. (2015) have it, vectors zero."""
        parts = []
        for shape in self.shapes:
            fan_in = math.prod(shape[:-1])
            scale = math.sqrt(2 / fan_in) if len(shape) > 1 else 0.0
            parts.append(scale * rng.standard_normal(math.prod(shape)))
        return np.concatenate(parts).astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        scale = 255 if x.dtype == np.uint8 else 1
        return np.divide(x, scale, dtype=np.float32)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        gradients = np.empty_like(params)
        for client, (models, samples, labels) in enumerate(zip(params, x, y, strict=True)):
            for trial, model in enumerate(models):
                gradients[client, trial] = self._gradient(model, samples, labels)
        return gradients

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        each = [
            [self._scores(model, samples).numpy().T for model in models]
            for models, samples in zip(params, x, strict=True)
        ]
        return np.array(each)

    def _unpacked(self, flat: Any) -> list[Any]:
        tf = tensorflow()
        parts = tf.split(flat, [math.prod(shape) for shape in self.shapes])
        return [tf.reshape(part, shape) for part, shape in zip(parts, self.shapes, strict=True)]

    @cached_property
    def _scores(self) -> Callable[..., Any]:
        tf = tensorflow()

        @tf.function(reduce_retracing=True)
        def scores(flat: Any, x: Any) -> Any:
            return self.scores_of(self._unpacked(flat), x)

        return scores

    @cached_property
    def _gradient(self) -> Callable[..., Any]:
        tf = tensorflow()

        @tf.function(reduce_retracing=True)
        def gradient(flat: Any, x: Any, y: Any) -> Any:
            weights = self._unpacked(flat)
            with tf.GradientTape() as tape:
                variables = self._watched(tape, weights)
                scores = self.scores_of(weights, x)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores)
                loss = tf.reduce_mean(losses)
            slopes = tape.gradient(loss, variables, unconnected_gradients="zero")
            return tf.concat([tf.reshape(slope, [-1]) for slope in slopes], 0)

        return gradient

    def _watched(self, tape: Any, weights: list[Any]) -> list[Any]:
        """What the gradient is taken in."""
        tape.watch(weights)
        return weights


class Cnn(TensorFlowModel):
    """Two convolutions of 3 x 3 with pooling, and one layer of scores: d = 9098 on MNIST.

    sample_shape : (height, width) or (height, width, channels)
    filters : of each convolution
    """

    def __init__(
        self,
        sample_shape: Sequence[int] = (28, 28),
        num_classes: int = 10,
        filters: tuple[int, int] = (8, 16),
    ) -> None:
        checked("num_classes", num_classes, Count)
        checked("filters", tuple(filters), tuple[Count, Count])
        shape = checked("sample_shape", list(sample_shape), list[Count])
        if len(shape) not in (2, 3) or min(shape[:2]) < 4:
            raise ValueError(
                f"sample_shape = {sample_shape!r} is not allowed: give (height, width) or (height, "
                "width, channels), at least 4 x 4"
            )
        height, width, channels = (*shape, 1)[:3]
        self._image = (height, width, channels)
        flat = (height // 4) * (width // 4) * filters[1]
        self.shapes = (
            (3, 3, channels, filters[0]),
            (filters[0],),
            (3, 3, filters[0], filters[1]),
            (filters[1],),
            (flat, num_classes),
            (num_classes,),
        )

    def __repr__(self) -> str:
        return f"Cnn(shapes={self.shapes})"

    def features(self, x: NDArray) -> NDArray:
        if x[0].size != math.prod(self._image):
            raise ValueError(f"samples of shape {x.shape[1:]} do not fit an image {self._image}")
        return super().features(x).reshape(len(x), *self._image)

    def scores_of(self, weights: list[Any], x: Any) -> Any:
        tf = tensorflow()
        for filters, bias in (weights[0:2], weights[2:4]):
            x = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + bias)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tf.reshape(x, (-1, weights[4].shape[0])) @ weights[4] + weights[5]


class KerasModel(TensorFlowModel):
    """A Keras model that gives scores (logits, no softmax at its end).

    It must be a function of its weights: layers that keep something else between calls, such as
    batch normalisation and dropout, are refused. The network is worked with in place; its weights
    when it is given are where training begins, and :meth:`loaded` puts a run's into it.

    Examples
    --------
    >>> from tensorflow import keras
    >>> network = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(),
    ...                             keras.layers.Dense(10)])
    >>> KerasModel(network).size
    7850
    """

    def __init__(self, network: Any) -> None:
        if not getattr(network, "built", False) or not network.trainable_variables:
            raise ValueError(
                f"network = {network!r} is not allowed: give a Keras model that knows the shape of "
                "its input and has weights to train"
            )
        state = [each.name for each in network.variables if not each.trainable]
        if state:
            raise ValueError(
                f"network = {network!r} is not allowed: its {', '.join(state)} are not trained, so "
                "no aggregation would carry them (batch normalisation, dropout, frozen layers)"
            )
        if len(network.output_shape) != 2:
            raise ValueError(
                f"network = {network!r} is not allowed: it gives {network.output_shape}, where one "
                "score a class is needed (a layer such as Flatten may be missing)"
            )
        last = network.layers[-1]
        if "softmax" in (type(last).__name__.lower(), _name(getattr(last, "activation", None))):
            raise ValueError(
                f"network = {network!r} is not allowed: it ends in a softmax, and the loss takes "
                "one of its own: leave it out"
            )
        self._network = network
        self.shapes = tuple(tuple(each.shape) for each in network.trainable_variables)
        self._start = np.concatenate(
            [np.asarray(each).ravel() for each in network.trainable_variables]
        )

    def __repr__(self) -> str:
        return f"KerasModel(shapes={self.shapes})"

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """The weights that the network had when it was given."""
        return self._start.astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        takes, given = self._network.input_shape[1:], x.shape[1:]
        fits = [axis in (None, size) for axis, size in zip(takes, given, strict=False)]
        if len(takes) != len(given) or not all(fits):
            raise ValueError(f"samples of shape {given} do not fit a network for {takes}")
        return super().features(x)

    def loaded(self, params: NDArray) -> Any:
        """The network with the weights ``params`` [d], such as a run's ``history.model``."""
        return self._assigned(self._unpacked(params))

    def scores_of(self, weights: list[Any], x: Any) -> Any:
        return self._assigned(weights)(x)

    def _assigned(self, weights: list[Any]) -> Any:
        for variable, weight in zip(self._network.trainable_variables, weights, strict=True):
            variable.assign(weight)
        return self._network

    def _watched(self, tape: Any, weights: list[Any]) -> list[Any]:
        return self._network.trainable_variables


def _name(function: Any) -> str:
    return getattr(function, "__name__", "")
