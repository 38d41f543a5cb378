"""Models whose gradients TensorFlow computes: a small CNN, and any Keras model.

Clients and runs are processed one after another, in one compiled function: slower than
:mod:`fl.models`, but open to any architecture.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fl.models import Classifier
from otafl._base.lazy import tensorflow
from otafl._base.names import options
from otafl._base.validation import OptionError, integer


class TensorFlowModel(Classifier):
    """Base class of models with automatic gradients.

    Subclasses define ``shapes``, the shapes of their weights, and implement ``scores_of``.

    Examples
    --------
    Logistic regression:

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
        """Return scores [B, C] of samples [B, ...]; all are float32 tensors."""

    @property
    def size(self) -> int:
        """d, the number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes)

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw matrices and filters as in He et al. (2015); vectors are zero."""
        parts = []
        for shape in self.shapes:
            fan_in = math.prod(shape[:-1])
            scale = math.sqrt(2 / fan_in) if len(shape) > 1 else 0.0
            parts.append(scale * rng.standard_normal(math.prod(shape)))
        return np.concatenate(parts).astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        """Return samples as float32; bytes are divided by 255."""
        scale = 255 if x.dtype == np.uint8 else 1
        return np.divide(x, scale, dtype=np.float32)

    def gradient(self, params: NDArray, x: NDArray, y: NDArray) -> NDArray:
        """Return the gradient of the mean loss of each batch, [m, S, d]."""
        gradients = np.empty_like(params)
        for client, (models, samples, labels) in enumerate(zip(params, x, y, strict=True)):
            for run, model in enumerate(models):
                gradients[client, run] = self._gradient(model, samples, labels)
        return gradients

    def scores(self, params: NDArray, x: NDArray) -> NDArray:
        """Return the scores [m, S, C, B]."""
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
        def scores(flat: Any, x: Any) -> Any:
            return self.scores_of(self._unpacked(flat), x)

        return tensorflow().function(scores, reduce_retracing=True)

    @cached_property
    def _gradient(self) -> Callable[..., Any]:
        tf = tensorflow()

        @tf.function(reduce_retracing=True)
        def gradient(flat: Any, x: Any, y: Any) -> Any:
            weights = self._unpacked(flat)
            with tf.GradientTape() as tape:
                variables = self._watched(tape, weights)
                scores = self.scores_of(weights, x)
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))
            slopes = tape.gradient(loss, variables, unconnected_gradients="zero")
            return tf.concat([tf.reshape(slope, [-1]) for slope in slopes], 0)

        return gradient

    def _watched(self, tape: Any, weights: list[Any]) -> list[Any]:
        """Return the variables with respect to which the gradient is taken."""
        tape.watch(weights)
        return weights


@options
class Cnn(TensorFlowModel):
    """A small CNN: two 3 x 3 convolutions with pooling and one dense layer; d = 9098 on MNIST.

    Parameters
    ----------
    sample_shape : sequence of int
        (height, width) or (height, width, channels), at least 4 x 4; (28, 28) by default.
    num_classes : int
        Number of classes; 10 by default.
    filters : (int, int)
        Number of filters of each convolution; (8, 16) by default.

    Examples
    --------
    >>> Cnn((28, 28), num_classes=10).size
    9098
    """

    def __init__(
        self,
        sample_shape: Sequence[int] = (28, 28),
        num_classes: int = 10,
        filters: tuple[int, int] = (8, 16),
    ) -> None:
        self.num_classes = integer("num_classes", num_classes, least=1)
        if len(filters) != 2:
            raise OptionError("filters", "two whole numbers", filters)
        first, second = (integer(f"filters[{i}]", n, least=1) for i, n in enumerate(filters))
        shape = [integer(f"sample_shape[{i}]", n, least=1) for i, n in enumerate(sample_shape)]
        if len(shape) not in (2, 3) or min(shape[:2]) < 4:
            must = "(height, width) or (height, width, channels), at least 4 x 4"
            raise OptionError("sample_shape", must, sample_shape)
        self._image = height, width, channels = (*shape, 1)[:3]
        convolutions = ((3, 3, channels, first), (first,), (3, 3, first, second), (second,))
        flat = (height // 4) * (width // 4) * second
        self.shapes = (*convolutions, (flat, num_classes), (num_classes,))

    def __repr__(self) -> str:
        return f"Cnn(shapes={self.shapes})"

    def features(self, x: NDArray) -> NDArray:
        """Return samples as float32 images [n, height, width, channels]."""
        if x[0].size != math.prod(self._image):
            raise OptionError("samples", f"of shape {self._image}", x.shape[1:])
        return super().features(x).reshape(len(x), *self._image)

    def scores_of(self, weights: list[Any], x: Any) -> Any:
        """Return the scores [B, C] of images [B, height, width, channels]."""
        tf = tensorflow()
        for filters, bias in (weights[0:2], weights[2:4]):
            x = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + bias)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tf.reshape(x, (-1, weights[4].shape[0])) @ weights[4] + weights[5]


@options
class KerasModel(TensorFlowModel):
    """A Keras model that returns scores: logits, without a softmax at the end.

    Parameters
    ----------
    network : keras.Model
        A built network. It must be a function of its trainable weights alone: layers with other
        state, such as batch normalisation and dropout, are refused. Training starts from its
        weights at this moment. It is used in place; :meth:`loaded` puts the weights of a run into
        it.

    Raises
    ------
    ValueError
        If the network is not built, has other state, does not return one score per class or ends
        in a softmax.

    Examples
    --------
    >>> from tensorflow import keras
    >>> network = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(),
    ...                             keras.layers.Dense(10)])
    >>> KerasModel(network).size
    7850
    """

    def __init__(self, network: Any) -> None:
        def refusal(must: str, hint: str = "") -> OptionError:
            return OptionError("network", f"a Keras model {must}", network, hint)

        if not getattr(network, "built", False) or not network.trainable_variables:
            raise refusal("with a known input shape and weights to train")
        state = [each.name for each in network.variables if not each.trainable]
        if state:
            hint = (
                f": {', '.join(state)} are not, so no aggregation would carry them (batch "
                "normalisation, dropout, frozen layers)"
            )
            raise refusal("whose weights are all trained", hint)
        if len(network.output_shape) != 2:
            hint = f", whose output is {network.output_shape} (a Flatten layer may be missing)"
            raise refusal("that returns one score per class", hint)
        last, weights = network.layers[-1], network.trainable_variables
        if "softmax" in (type(last).__name__.lower(), _name(getattr(last, "activation", None))):
            hint = ": it ends in a softmax, which is part of the loss already; leave it out"
            raise refusal("that returns logits", hint)
        self._network = network
        self.num_classes = int(network.output_shape[-1])
        self.shapes = tuple(tuple(each.shape) for each in weights)
        self._start = np.concatenate([np.asarray(each).ravel() for each in weights])

    def __repr__(self) -> str:
        return f"KerasModel(shapes={self.shapes})"

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the weights that the network had when it was passed in."""
        return self._start.astype(np.float32)

    def features(self, x: NDArray) -> NDArray:
        """Return samples as float32, in the shape of the network's input."""
        takes, given = self._network.input_shape[1:], x.shape[1:]
        fits = [axis in (None, size) for axis, size in zip(takes, given, strict=False)]
        if len(takes) != len(given) or not all(fits):
            raise OptionError("samples", f"of shape {takes}, the input of the network", given)
        return super().features(x)

    def loaded(self, params: NDArray) -> Any:
        """Return the network with the weights ``params`` [d], such as a run's ``history.model``."""
        return self._assigned(self._unpacked(params))

    def scores_of(self, weights: list[Any], x: Any) -> Any:
        """Return the scores [B, C]."""
        return self._assigned(weights)(x)

    def _assigned(self, weights: list[Any]) -> Any:
        for variable, weight in zip(self._network.trainable_variables, weights, strict=True):
            variable.assign(weight)
        return self._network

    def _watched(self, tape: Any, weights: list[Any]) -> list[Any]:
        return self._network.trainable_variables


def _name(function: Any) -> str:
    return getattr(function, "__name__", "")
