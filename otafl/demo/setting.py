"""The settings of the page, and the link that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from links import OfdmLink, WaveformLink
from phy import NoFading, NoisyCsi, PerfectCsi, Rayleigh, Rician, Tdl
from phy.fading import Fading
from phy.impairments import CarrierOffset, Impairment, Rapp

FADINGS: dict[str, Fading] = {
    "none": NoFading(),
    "Rician, K = 4": Rician(k_factor=4.0),
    "Rayleigh, flat": Rayleigh(),
    "TDL-A, 100 ns": Tdl("A", delay_spread=100e-9),
    "TDL-C, 300 ns": Tdl("C", delay_spread=300e-9),
}
IDEAL_BACKOFF_DB = 20.0  # from here on the amplifier is ideal


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
    """

    clients: int = 5
    payload: str = "votes"
    entry_snr_db: float = 20.0
    fading: str = "TDL-A, 100 ns"
    csi_error: float = 0.0
    truncation: float = 0.1
    carrier_offset: float = 0.0
    backoff_db: float = IDEAL_BACKOFF_DB

    @property
    def faults(self) -> tuple[Impairment, ...]:
        """The impairments of the clients' hardware."""
        chosen: list[Impairment] = []
        if self.carrier_offset > 0:
            chosen.append(CarrierOffset(std=self.carrier_offset))
        if self.backoff_db < IDEAL_BACKOFF_DB:
            chosen.append(Rapp(backoff_db=self.backoff_db))
        return tuple(chosen)

    def link(self, **options: Any) -> OfdmLink | WaveformLink:
        """Return a link in samples if there are faults, else the faster one in carriers."""
        if self.faults:
            return WaveformLink(transmit=self.faults, **self._options(options))
        return self.faultless_link(**options)

    def faultless_link(self, **options: Any) -> OfdmLink:
        """Return the link without hardware faults."""
        return OfdmLink(**self._options(options))

    def _options(self, changed: dict[str, Any]) -> dict[str, Any]:
        own = {
            "entry_snr_db": self.entry_snr_db,
            "fading": FADINGS[self.fading],
            "csi": NoisyCsi(self.csi_error) if self.csi_error > 0 else PerfectCsi(),
            "truncation": self.truncation,
        }
        return own | changed
