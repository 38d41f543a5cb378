"""The table ``participation`` of a scenario."""

from __future__ import annotations

from typing import Any

from fl import BestChannels, Everyone, Participation, ProportionalFair, RandomClients, RoundRobin
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import field_type
from scenarios.config.tables import Choice

PARTICIPATIONS = Catalogue("participation", "kind", must=Participation)
"""The selections of clients that a scenario can choose; a new one needs a line here."""

PARTICIPATIONS.add("everyone", Everyone)
PARTICIPATIONS.add("random", RandomClients)
PARTICIPATIONS.add("round-robin", RoundRobin)
PARTICIPATIONS.add("best-channels", BestChannels)
PARTICIPATIONS.add("proportional-fair", ProportionalFair)

_TABLE = Choice(PARTICIPATIONS)
PARTICIPATION: Any = field_type(_TABLE)
EVERYONE = _TABLE.mirrored(Everyone())
