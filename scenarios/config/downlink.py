"""The table ``downlink`` of a scenario."""

from __future__ import annotations

from typing import Any, Literal

import scenarios.config.link  # noqa: F401  (it registers the tables of grids, fading and CSI)
from links import GaussianDownlink, OfdmDownlink, QuantisedDownlink
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import Part, field_type
from scenarios.config.tables import Choice

DOWNLINKS = Catalogue("downlink", "kind", methods=["open"])
"""The downlinks that a scenario can choose; a new one needs a line here."""


class NoDownlink(Part):
    """The model reaches every client without error, and takes no time."""

    kind: Literal["none"] = "none"

    def build(self) -> None:
        """Return None."""


DOWNLINKS.add_config(NoDownlink)
DOWNLINKS.add("gaussian", GaussianDownlink)
DOWNLINKS.add("ofdm", OfdmDownlink)
DOWNLINKS.add("quantised", QuantisedDownlink)

DOWNLINK: Any = field_type(Choice(DOWNLINKS))
NO_DOWNLINK = NoDownlink()
