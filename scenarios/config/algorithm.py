"""The table ``algorithm`` of a scenario."""

from __future__ import annotations

from typing import Any

from fl import Acpc, Adsgd, Algorithm, ClippedFedAvg, Cotaf, FedAvg, FedNova, SignVote
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import TABLES, field_type
from scenarios.config.tables import Choice

ALGORITHMS = Catalogue("algorithm", "name", must=Algorithm)
"""The algorithms that a scenario can choose; a new one needs a line here."""

TABLES[Algorithm] = Choice(ALGORITHMS)
ALGORITHM: Any = field_type(TABLES[Algorithm])

ALGORITHMS.add("acpc", Acpc)
ALGORITHMS.add("clipped-fedavg", ClippedFedAvg)
ALGORITHMS.add("adsgd", Adsgd)
ALGORITHMS.add("cotaf", Cotaf)
ALGORITHMS.add("fedavg", FedAvg)
ALGORITHMS.add("fednova", FedNova)
ALGORITHMS.add("sign-vote", SignVote)
