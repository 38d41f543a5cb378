"""The table ``participation``."""

from __future__ import annotations

import pytest

from fl import BestChannels, Everyone, ProportionalFair, RandomClients, RoundRobin
from scenarios import ScenarioError, load_scenario
from tests.scenarios.config.simple import SIMPLE, one, written


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, Everyone()),
        ({"kind": "everyone"}, Everyone()),
        ({"kind": "random", "clients": 3}, RandomClients(3)),
        (
            {"kind": "random", "clients": 3, "replacement": True, "probability": "size"},
            RandomClients(3, replacement=True, probability="size"),
        ),
        ({"kind": "round-robin", "clients": 3}, RoundRobin(3)),
        ({"kind": "best-channels", "clients": 3, "candidates": 5}, BestChannels(3, 5)),
        (
            {"kind": "proportional-fair", "clients": 3, "candidates": 5, "window": 4.0},
            ProportionalFair(3, 5, 4.0),
        ),
    ],
)
def test_every_selection(table, expected):
    cell = one(participation=table)
    assert cell.participation.build() == expected
    assert cell.options()["participation"] == expected
    (again,) = written(load_scenario({**SIMPLE, "participation": table})).cells
    assert again == cell


def test_a_cell_in_which_everyone_takes_part_has_the_name_it_always_had():
    """The table is left out of the digest, as before there was any."""
    cell = one()
    assert "participation" not in cell.identity()
    assert one(participation={"kind": "everyone"}).digest() == cell.digest()
    assert one(participation={"kind": "random", "clients": 3}).digest() != cell.digest()


def test_cells_with_other_clients_are_not_trained_together():
    sweep = {"participation.kind": ["everyone", "random"], "link.snr_db": [0, 10]}
    scenario = load_scenario({**SIMPLE, "participation": {"clients": 3}, "sweep": sweep})
    assert [len(batch) for batch in scenario.batches] == [2, 2]
    kinds = [cell.participation.build() for cell in scenario.cells]
    assert kinds == [Everyone(), Everyone(), RandomClients(3), RandomClients(3)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "random"}, "participation.clients"),
        ({"kind": "random", "clients": 0}, "participation.clients must be a whole number >= 1"),
        ({"kind": "randomly", "clients": 1}, "participation.kind .*random"),
        ({"kind": "random", "clients": 3, "probability": "size"}, "replacement must be True"),
        ({"kind": "round-robin", "clients": 3, "candidate": 3}, "participation.candidate"),
    ],
)
def test_refused(table, message):
    with pytest.raises(ScenarioError, match=message):
        one(participation=table)
