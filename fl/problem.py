"""What is learnt: a model, the data, and which client holds which samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fl.data import Dataset
from fl.models import Classifier, LogisticRegression, Model
from fl.partition import Shards, check_shards, client_weights
from otafl._base.names import options
from otafl._base.validation import OptionError, assign


@options
@dataclass(frozen=True, eq=False)
class Problem:
    """A learning problem: minimise F(x) = sum_i alpha_i F_i(x) over the data of all clients.

    Parameters
    ----------
    model : Model or None
        The model to train; None for logistic regression with the features and classes of the data.
    data : Dataset
        Training and test samples.
    shards : sequence of ndarray of int64
        Indices of the training samples of each client, as the partition functions return them, or
        a :class:`fl.Population`, which draws them when they are used.

    Raises
    ------
    ValueError
        If an argument is of another type, if the shards are not disjoint and within the data, or
        if the model has fewer classes than the data.

    Notes
    -----
    The objective is Eq. (1) of H. Yang et al., "Over-the-Air Federated Learning with Joint Adaptive
    Computation and Power Control"; alpha_i is client i's share of the samples.

    Examples
    --------
    >>> from fl import Dataset, partition_unbalanced
    >>> x, y = np.random.default_rng(1).random((40, 5)), np.arange(40) % 2
    >>> shards = partition_unbalanced(y[:30], [1, 2], np.random.default_rng(1))
    >>> problem = Problem(None, Dataset(x[:30], y[:30], x[30:], y[30:]), shards)
    >>> problem.model
    LogisticRegression(num_features=5, num_classes=2)
    >>> problem.weights.round(3).tolist()
    [0.333, 0.667]
    """

    model: Model  # None is replaced
    data: Dataset
    shards: Shards

    def __post_init__(self) -> None:
        if not isinstance(self.data, Dataset):
            raise OptionError("data", "a Dataset, such as load_dataset returns", self.data)
        model = self.model
        if model is None:
            model = LogisticRegression(math.prod(self.data.sample_shape), self.data.num_classes)
        if isinstance(model, type) or not isinstance(model, Model):
            raise OptionError(
                "model", "a model, such as Mlp(784, 10) or KerasModel(network)", model
            )
        assign(self, model=model, shards=check_shards(self.shards, len(self.data.y_train)))
        declared = getattr(model, "num_classes", None)
        if isinstance(model, Classifier) and isinstance(declared, int):
            self.check_scores(declared)

    @property
    def num_clients(self) -> int:
        """m, the number of clients."""
        return len(self.shards)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """[m], client weights alpha_i, read-only."""
        weights = client_weights(self.shards)
        weights.flags.writeable = False
        return weights

    def initial_model(self, rng: np.random.Generator) -> NDArray:
        """Return x_0 [d], drawn from ``rng``."""
        start = np.asarray(self.model.initial(rng))
        if start.shape != (self.model.size,) or start.dtype not in (np.float32, np.float64):
            raise ValueError(
                f"{self.model!r}.initial must return float32 or float64 of shape "
                f"{(self.model.size,)}, got {start.dtype} of shape {start.shape}"
            )
        return start

    def check_scores(self, scores: int) -> None:
        """Check that the model has a score for every class of the data."""
        classes = self.data.num_classes
        if scores < classes:
            must = f"a model with a score for each of the {classes} classes of the data"
            raise OptionError("model", must, self.model, f", which has {scores}")
