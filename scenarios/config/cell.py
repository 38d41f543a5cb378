"""A cell of a study: all tables that one run depends on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import model_validator

from fl import Problem
from otafl._base.validation import integer
from scenarios.config.algorithm import ALGORITHM
from scenarios.config.data import DATA, Quadratics
from scenarios.config.downlink import DOWNLINK, NO_DOWNLINK
from scenarios.config.link import LINK
from scenarios.config.model import MODEL, QuadraticConfig
from scenarios.config.participation import EVERYONE, PARTICIPATION
from scenarios.config.parts import Part, checked, field_type, later
from scenarios.config.tables import One
from scenarios.config.training import TrainingConfig

_TRAINING: Any = field_type(One(TrainingConfig))
_SEED: Any = checked(integer, least=0, most=2**63 - 1)
DIGEST_LENGTH = 20  # hexadecimal digits: two of a million cells agree with a chance of 4e-13


class Cell(Part):
    """One run: everything that it depends on."""

    data: DATA
    model: MODEL
    algorithm: ALGORITHM
    link: LINK
    training: _TRAINING = TrainingConfig()
    participation: PARTICIPATION = later("0.3", default=EVERYONE, earlier=EVERYONE)
    downlink: DOWNLINK = later("0.3", default=NO_DOWNLINK, earlier=NO_DOWNLINK)
    seed: _SEED = 0

    @model_validator(mode="after")
    def _validate(self) -> Cell:
        quadratic = isinstance(self.data, Quadratics), isinstance(self.model, QuadraticConfig)
        if any(quadratic) and not all(quadratic):
            raise ValueError(
                f"data.partition = {self.data.choice!r} and model.name = {self.model.choice!r} do "
                "not go together: both must be 'quadratic', or neither"
            )
        return self

    def shared(self) -> tuple[Any, ...]:
        """Return what is equal for cells that train on the same minibatches."""
        tables = self.data, self.model, self.training, self.participation, self.downlink
        return self.seed, *tables

    def digest(self) -> str:
        """Return what tells this run from all others, however its options were given."""
        canonical = json.dumps(_canonical(self.identity()), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:DIGEST_LENGTH]

    def options(self) -> dict[str, Any]:
        """Return the options of :func:`fl.train_together` that all cells of a batch share."""
        parts = {"participation": self.participation, "downlink": self.downlink}
        return {**self.training.options(), **{name: part.build() for name, part in parts.items()}}

    def problem(self) -> Problem:
        """Return the learning problem."""
        return self.data.problem(self.model, self.seed)


def _canonical(value: Any) -> Any:
    """Return settings in which numbers that are equal are written alike."""
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
