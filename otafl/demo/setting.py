"""The settings of the page, and the link that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from links import OfdmLink, WaveformLink
from otafl._base.validation import choice
from phy import NoFading, NoisyCsi, PerfectCsi, Rayleigh, Rician, Tdl
from phy.fading import Fading
from phy.impairments import CarrierOffset, Impairment, Rapp

PAYLOADS = ("votes", "Gaussian")
FADINGS: dict[str, Fading] = {
    "none": NoFading(),
    "Rician, K = 4": Rician(k_factor=4.0),
    "Rayleigh, flat": Rayleigh(),
    "TDL-A, 100 ns": Tdl("A", delay_spread=100e-9),
    "TDL-C, 300 ns": Tdl("C", delay_spread=300e-9),
}
CHOICES = {"payload": PAYLOADS, "fading": tuple(FADINGS)}
"""The options of a setting that have names for values."""
IDEAL_BACKOFF_DB = 20.0  # from here on the amplifier is ideal


class Range(NamedTuple):
    """The values that a control can take: from ``start`` to ``end`` in steps."""

    start: float
    end: float
    step: float


RANGES = {
    "clients": Range(1, 20, 1),
    "entry_snr_db": Range(-40, 40, 1),
    "csi_error": Range(0, 0.5, 0.005),
    "truncation": Range(0, 1, 0.01),
    "carrier_offset": Range(0, 0.05, 0.001),
    "backoff_db": Range(-6, IDEAL_BACKOFF_DB, 1),
    "seed": Range(0, 999_999, 1),
}
"""The options of a setting that are numbers."""


@dataclass(frozen=True)
class Setting:
    """The options of the page.

    Attributes
    ----------
    clients : int
        Number of clients.
    payload : str
        "votes" of +1 and -1, or "Gaussian" values.
    entry_snr_db : float
        Es/N0 of a resource element [dB].
    fading : str
        One of ``FADINGS``.
    csi_error : float
        Error variance of the channel estimates.
    truncation : float
        Clients are silent on carriers where their estimate of abs(h)^2 is below this.
    carrier_offset : float
        Standard deviation over the clients [subcarrier spacings].
    backoff_db : float
        Backoff of the amplifiers [dB]; ideal from ``IDEAL_BACKOFF_DB`` on.
    seed : int
        Equal seeds give equal payloads, channels, devices and noise.
    """

    clients: int = 5
    payload: str = "votes"
    entry_snr_db: float = 20.0
    fading: str = "TDL-A, 100 ns"
    csi_error: float = 0.0
    truncation: float = 0.1
    carrier_offset: float = 0.0
    backoff_db: float = IDEAL_BACKOFF_DB
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            choice(name, getattr(self, name), allowed)

    @property
    def faults(self) -> tuple[Impairment, ...]:
        """The impairments of the clients' hardware."""
        chosen: list[Impairment] = []
        if self.carrier_offset > 0:
            chosen.append(CarrierOffset(std=self.carrier_offset))
        if self.backoff_db < IDEAL_BACKOFF_DB:
            chosen.append(Rapp(backoff_db=self.backoff_db))
        return tuple(chosen)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the link, without the faults of the hardware."""
        return {
            "entry_snr_db": float(self.entry_snr_db),
            "fading": FADINGS[self.fading],
            "csi": NoisyCsi(self.csi_error) if self.csi_error > 0 else PerfectCsi(),
            "truncation": float(self.truncation),
        }

    def link(self, **changed: Any) -> OfdmLink | WaveformLink:
        """Return a link in samples if there are faults, else the faster one in carriers."""
        if self.faults:
            return WaveformLink(transmit=self.faults, **{**self.options, **changed})
        return self.faultless_link(**changed)

    def faultless_link(self, **changed: Any) -> OfdmLink:
        """Return the link without hardware faults."""
        return OfdmLink(**{**self.options, **changed})
