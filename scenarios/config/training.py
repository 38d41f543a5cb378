"""The table ``training`` of a scenario."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import model_validator

from fl import Deadline, Diminishing, Epochs, Sgd, UniformSteps
from otafl._base.validation import OptionError, boolean, choice, integer, number
from scenarios.config.model import COUNT, LARGEST
from scenarios.config.parts import NONE, Mirror, Part, checked, field_type, later, mirror
from scenarios.config.tables import One, OneOf, optional


def _batch_size(name: str, given: Any) -> int | None:
    if given is None or given == NONE:
        return None
    try:
        return integer(name, given, least=1, most=LARGEST)
    except OptionError:
        must = f'a whole number from 1 to {LARGEST}, or "none" for all samples'
        raise OptionError(name, must, given) from None


def _steps(name: str, given: Any) -> int | list[int]:
    if isinstance(given, list | tuple):
        pairs = enumerate(given)
        return [integer(f"{name}[{i}]", each, least=1, most=LARGEST) for i, each in pairs]
    return integer(name, given, least=1, most=LARGEST)


_NOT_NEGATIVE: Any = checked(number, least=0)
_FLAG: Any = checked(boolean)
_BATCH_SIZE: Any = checked(_batch_size)
_RATE: Any = field_type(One(mirror(Diminishing), partial(number, above=0)))
_STEPS: Any = field_type(OneOf([mirror(UniformSteps), mirror(Epochs)], _steps))
_DEADLINE: Any = optional(mirror(Deadline))
_ACCURACY: Any = checked(choice, allowed=("final", "best"))


class TrainingConfig(Part):
    """How the clients train, how often and for how long; see :func:`fl.train_together`.

    Attributes
    ----------
    rate : float or table
        Learning rate of a local step: constant, or a table of the options of
        :class:`fl.Diminishing`.
    steps : int, list of int or table
        The most local steps of a client in a round: a scalar, one value per device, a table of
        ``least`` and ``most``, between which they are drawn for every client and round, or a table
        of ``epochs``, passes over the client's samples.
    replacement : bool
        Whether minibatches are drawn with replacement; see :class:`fl.Sgd`.
    deadline : table or "none"
        A time limit on local training; a table of the options of :class:`fl.Deadline`.
    final_rounds : int
        Number of rounds at the end whose tests the final accuracy averages.
    accuracy : {"final", "best"}
        Which accuracy a cell reports: the mean of the tests in the last ``final_rounds`` rounds, or
        the best test of all rounds, which selects on test data. Both are stored.
    """

    rounds: COUNT = 100
    rate: _RATE = 0.1
    batch_size: _BATCH_SIZE = 50
    weight_decay: _NOT_NEGATIVE = 0.0
    momentum: _NOT_NEGATIVE = 0.0
    steps: _STEPS = 10
    round_period: _NOT_NEGATIVE = 0.1
    test_every: COUNT = 1
    final_rounds: COUNT = 10
    measure_gradient: _FLAG = False
    replacement: _FLAG = later("0.3", default=True, earlier=True)
    deadline: _DEADLINE = later("0.3", default=None, earlier=None)
    accuracy: _ACCURACY = later("0.3", default="final", earlier="final")

    @model_validator(mode="after")
    def _validate(self) -> TrainingConfig:
        self.sgd()
        return self

    def sgd(self) -> Sgd:
        """Return the local optimiser."""
        return Sgd(
            _built(self.rate), self.batch_size, self.weight_decay, self.momentum, self.replacement
        )

    def options(self) -> dict[str, Any]:
        """Return the options of :func:`fl.train_together`."""
        return {
            "rounds": self.rounds,
            "sgd": self.sgd(),
            "steps": _built(self.steps),
            "deadline": _built(self.deadline),
            "round_period": self.round_period,
            "test_every": self.test_every,
            "measure_gradient": self.measure_gradient,
        }


def _built(value: Any) -> Any:
    return value.build() if isinstance(value, Mirror) else value
