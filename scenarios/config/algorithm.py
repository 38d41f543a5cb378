"""The table ``algorithm`` of a scenario."""

from __future__ import annotations

from typing import Any

from fl import (
    Acpc,
    Adsgd,
    Algorithm,
    ClippedFedAvg,
    Cotaf,
    FedAdam,
    FedAvg,
    FedAvgM,
    FedNova,
    FedProx,
    FedYogi,
    Scaffold,
    SignVote,
)
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import TABLES, field_type
from scenarios.config.tables import Choice

ALGORITHMS = Catalogue("algorithm", "name", must=Algorithm)
"""The algorithms that a scenario can choose; a new one needs a line here."""

TABLES[Algorithm] = Choice(ALGORITHMS)
ALGORITHM: Any = field_type(TABLES[Algorithm])

ALGORITHMS.add("acpc", Acpc)
ALGORITHMS.add("cotaf", Cotaf)
ALGORITHMS.add("fedavg", FedAvg)
ALGORITHMS.add("fednova", FedNova)
ALGORITHMS.add("fedprox", FedProx)
ALGORITHMS.add("fedavgm", FedAvgM)
ALGORITHMS.add("fedadam", FedAdam)
ALGORITHMS.add("fedyogi", FedYogi)
ALGORITHMS.add("scaffold", Scaffold)
ALGORITHMS.add("sign-vote", SignVote)
ALGORITHMS.add("adsgd", Adsgd)
ALGORITHMS.add("clipped-fedavg", ClippedFedAvg)
