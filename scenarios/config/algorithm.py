"""The table ``algorithm`` of a scenario."""

from __future__ import annotations

from typing import Any

from fl import Acpc, Cotaf, FedAvg, FedNova
from scenarios.config.parts import mirror, one_of

ALGORITHMS: Any = one_of(
    mirror(Acpc, "name", "acpc"),
    mirror(Cotaf, "name", "cotaf"),
    mirror(FedAvg, "name", "fedavg"),
    mirror(FedNova, "name", "fednova"),
)
"""The algorithms that a scenario can choose; a new one needs a line here."""
