"""A cell of a study: all tables that one run depends on."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from fl import Problem
from otafl._base.validation import integer
from scenarios.config.algorithm import ALGORITHMS
from scenarios.config.data import DATA, Quadratics
from scenarios.config.link import LINKS
from scenarios.config.model import MODELS, QuadraticConfig
from scenarios.config.parts import Part, checked
from scenarios.config.training import TrainingConfig

_SEED: Any = checked(integer, least=0, most=2**63 - 1)


class Cell(Part):
    """One run: everything that it depends on."""

    data: DATA
    model: MODELS
    algorithm: ALGORITHMS
    link: LINKS
    training: TrainingConfig = TrainingConfig()
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
        return self.seed, self.data, self.model, self.training

    def problem(self) -> Problem:
        """Return the learning problem."""
        return self.data.problem(self.model, self.seed)
