"""The table ``algorithm``."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fl import Acpc, ClippedFedAvg, Cotaf, FedAvg, FedNova, SignVote
from tests.scenarios.config.simple import one


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("acpc", Acpc),
        ("clipped-fedavg", ClippedFedAvg),
        ("cotaf", Cotaf),
        ("fedavg", FedAvg),
        ("fednova", FedNova),
        ("sign-vote", SignVote),
    ],
)
def test_every_option_of_every_algorithm_has_a_key(name, algorithm):
    config = one(algorithm={"name": name}).algorithm
    assert config.build() == algorithm()
    assert config.settings().keys() == {"name", *(field.name for field in fields(algorithm))}
