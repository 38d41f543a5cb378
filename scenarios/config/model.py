"""The table ``model`` of a scenario."""

from __future__ import annotations

import math
from typing import Any, Literal

from fl import Dataset, LogisticRegression, Mlp, Model
from otafl._base.validation import OptionError, integer
from scenarios.config.parts import Part, checked, one_of

LARGEST = 1_000_000
COUNT: Any = checked(integer, least=1, most=LARGEST)


def _counts(name: str, given: Any, number: int | None = None) -> tuple[int, ...]:
    """Return positive whole numbers, ``number`` of them."""
    if not isinstance(given, list | tuple) or number not in (None, len(given)):
        many = "" if number is None else f"{number} "
        raise OptionError(name, f"a list of {many}whole numbers", given)
    return tuple(
        integer(f"{name}[{i}]", each, least=1, most=LARGEST) for i, each in enumerate(given)
    )


_SIZES: Any = checked(_counts)
_TWO_SIZES: Any = checked(_counts, number=2)


class LogisticConfig(Part):
    """Multinomial logistic regression."""

    name: Literal["logistic"] = "logistic"

    def build(self, data: Dataset) -> Model:
        """Return the model for a dataset."""
        return LogisticRegression(math.prod(data.sample_shape), data.num_classes)


class MlpConfig(Part):
    """Layers of rectified linear units; ``hidden`` is the size of each."""

    name: Literal["mlp"] = "mlp"
    hidden: _SIZES = (64,)

    def build(self, data: Dataset) -> Model:
        """Return the model for a dataset."""
        return Mlp(math.prod(data.sample_shape), data.num_classes, self.hidden)


class CnnConfig(Part):
    """Two convolutions with pooling, in TensorFlow."""

    name: Literal["cnn"] = "cnn"
    filters: _TWO_SIZES = (8, 16)

    def build(self, data: Dataset) -> Model:
        """Return the model for a dataset."""
        from fl.autodiff import Cnn

        return Cnn(data.sample_shape, data.num_classes, self.filters)


class QuadraticConfig(Part):
    """The model of data with ``partition = "quadratic"``."""

    name: Literal["quadratic"] = "quadratic"


MODELS: Any = one_of(LogisticConfig, MlpConfig, CnnConfig, QuadraticConfig)
"""The models that a scenario can choose."""
