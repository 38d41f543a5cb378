"""The table ``model`` of a scenario.

A user-defined model is a dataclass with the methods of :class:`fl.Model`. Its fields
``num_features``, ``num_classes`` and ``sample_shape``, where it has them, come from the data; the
others are its options.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from fl import Dataset, LogisticRegression, Mlp, Model
from fl.autodiff import TensorFlowModel
from otafl._base.lazy import tensorflow
from otafl._base.validation import OptionError, integer
from scenarios.config.catalogue import Catalogue
from scenarios.config.code import UserClass
from scenarios.config.parts import Part, checked, field_type, mirror
from scenarios.config.tables import Choice

LARGEST = 1_000_000
COUNT: Any = checked(integer, least=1, most=LARGEST)
FROM_DATA = ("num_features", "num_classes", "sample_shape")
"""Fields of a model that the data determine."""


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

    def build(self, data: Dataset, seed: int) -> Model:
        """Return the model for a dataset."""
        return LogisticRegression(math.prod(data.sample_shape), data.num_classes)


class MlpConfig(Part):
    """Layers of rectified linear units; ``hidden`` is the size of each."""

    name: Literal["mlp"] = "mlp"
    hidden: _SIZES = (64,)

    def build(self, data: Dataset, seed: int) -> Model:
        """Return the model for a dataset."""
        return Mlp(math.prod(data.sample_shape), data.num_classes, self.hidden)


class CnnConfig(Part):
    """Two convolutions with pooling, in TensorFlow."""

    name: Literal["cnn"] = "cnn"
    filters: _TWO_SIZES = (8, 16)

    def build(self, data: Dataset, seed: int) -> Model:
        """Return the model for a dataset."""
        from fl.autodiff import Cnn

        return Cnn(data.sample_shape, data.num_classes, self.filters)


class QuadraticConfig(Part):
    """The model of data with ``partition = "quadratic"``."""

    name: Literal["quadratic"] = "quadratic"


class UserModel(Part):
    """A model of the user's; see the module docstring."""

    def build(self, data: Dataset, seed: int) -> Model:
        """Return the model for a dataset.

        A network of TensorFlow draws its first weights while it is made, from a global generator.
        """
        shape = data.sample_shape
        known = dict(zip(FROM_DATA, (math.prod(shape), data.num_classes, shape), strict=True))
        target: Any = type(self).target  # type: ignore[attr-defined]
        taken = getattr(target, "__dataclass_fields__", {})
        options = {name: getattr(self, name) for name in type(self).model_fields}
        options.pop(self.chooser)
        if issubclass(target, TensorFlowModel):
            tensorflow().keras.utils.set_random_seed(seed % 2**32)
        return target(**{name: known[name] for name in FROM_DATA if name in taken}, **options)


def _of_user(user: UserClass, name: str) -> type[Part]:
    target, code = user.target, user.sha256
    return mirror(target, "name", name, code=code, base=UserModel, without=FROM_DATA)


MODELS = Catalogue(
    "model",
    "name",
    methods=["size", "initial", "features", "gradient", "loss", "test"],
    config=_of_user,
)
"""The models that a scenario can choose."""
for _config in (LogisticConfig, MlpConfig, CnnConfig, QuadraticConfig):
    MODELS.add_config(_config)
MODEL: Any = field_type(Choice(MODELS))
