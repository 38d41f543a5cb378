"""Where the sliders stand, and the link that this makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from links import OfdmLink, WaveformLink
from phy import NoFading, NoisyCsi, PerfectCsi, Rayleigh, Rician, Tdl
from phy.fading import Fading
from phy.impairments import CarrierOffset, Rapp
from phy.impairments.burst import Impairment

FADINGS: dict[str, Fading] = {
    "none": NoFading(),
    "Rician, K = 4": Rician(k_factor=4.0),
    "Rayleigh, flat": Rayleigh(),
    "TDL-A, 100 ns": Tdl("A", delay_spread=100e-9),
    "TDL-C, 300 ns": Tdl("C", delay_spread=300e-9),
}
IDEAL_BACKOFF_DB = 20.0  # from here on the amplifier is a wire


@dataclass(frozen=True)
class Setting:
    """What the page lets one choose.

    clients : how many send
    payload : "votes" of +1 and -1, or "Gaussian" values
    entry_snr_db : Es/N0 of a resource element [dB]
    fading : one of ``FADINGS``
    csi_error : variance of the error of the channel estimate
    truncation : silent where the estimate of |h|^2 is below
    carrier_offset : its standard deviation over the clients [spacings]
    backoff_db : of the amplifiers [dB]; ``IDEAL_BACKOFF_DB`` for ideal ones
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
        chosen: list[Impairment] = []
        if self.carrier_offset > 0:
            chosen.append(CarrierOffset(std=self.carrier_offset))
        if self.backoff_db < IDEAL_BACKOFF_DB:
            chosen.append(Rapp(backoff_db=self.backoff_db))
        return tuple(chosen)

    def link(self, **options: Any) -> OfdmLink | WaveformLink:
        """In samples if there are faults to see, else by the faster algebra of carriers."""
        if self.faults:
            return WaveformLink(transmit=self.faults, **self._options(options))
        return self.faultless_link(**options)

    def faultless_link(self, **options: Any) -> OfdmLink:
        return OfdmLink(**self._options(options))

    def _options(self, changed: dict[str, Any]) -> dict[str, Any]:
        own = {
            "entry_snr_db": self.entry_snr_db,
            "fading": FADINGS[self.fading],
            "csi": NoisyCsi(self.csi_error) if self.csi_error > 0 else PerfectCsi(),
            "truncation": self.truncation,
        }
        return own | changed
