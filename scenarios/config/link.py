"""The table ``link`` of a scenario, and the tables of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

import phy
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from links.radio import DEFAULT_SNR_DB
from phy import impairments
from scenarios.config.parts import NONE, NOTHING, mirror, one_of, optional, row

SNRS = ("snr_db", "entry_snr_db")
GRID = mirror(phy.OfdmGrid)
FADINGS: Any = one_of(
    mirror(phy.NoFading, "kind", "none"),
    mirror(phy.Rayleigh, "kind", "rayleigh"),
    mirror(phy.Rician, "kind", "rician"),
    mirror(phy.Tdl, "kind", "tdl"),
)
_PERFECT, _NOISY, _PILOT = (
    mirror(phy.PerfectCsi, "kind", "perfect"),
    mirror(phy.NoisyCsi, "kind", "noisy"),
    mirror(phy.PilotCsi, "kind", "pilot"),
)
_AGED = mirror(phy.AgedCsi, "kind", "aged", of=one_of(_PERFECT, _NOISY, _PILOT))
CSIS: Any = one_of(_PERFECT, _NOISY, _PILOT, _AGED)

# Impairments, in the order in which a signal passes them
_CONVERTER, _CLOCK = mirror(impairments.Adc), mirror(impairments.ClockOffset)
_IQ, _PHASE_NOISE = mirror(impairments.IqImbalance), mirror(impairments.PhaseNoise)
_LIMITER, _RAPP = mirror(impairments.SoftLimiter), mirror(impairments.Rapp)
_SYNC, _ADVANCE = mirror(impairments.CarrierSync), mirror(impairments.TimingAdvance)
TRANSMIT = row(
    clip_and_filter=mirror(impairments.ClipAndFilter),
    adc=_CONVERTER,
    clock_offset=_CLOCK,
    iq_imbalance=_IQ,
    carrier_offset=mirror(impairments.CarrierOffset, sync=optional(_SYNC)),
    phase_noise=_PHASE_NOISE,
    soft_limiter=_LIMITER,
    rapp=_RAPP,
    timing_offset=mirror(impairments.TimingOffset, advance=optional(_ADVANCE)),
)
RECEIVE = row(
    timing_offset=mirror(impairments.TimingOffset, advance=NOTHING),
    soft_limiter=_LIMITER,
    rapp=_RAPP,
    phase_noise=_PHASE_NOISE,
    carrier_offset=mirror(impairments.CarrierOffset, sync=NOTHING),
    iq_imbalance=_IQ,
    clock_offset=_CLOCK,
    adc=_CONVERTER,
)


def upgraded(table: Any) -> Any:
    """Return a link's table as this version means it.

    Version 0.1 wrote out both SNRs as "none" for its default of 10 dB.
    """
    if isinstance(table, Mapping) and all(table.get(name) == NONE for name in SNRS):
        return {**table, "snr_db": DEFAULT_SNR_DB}
    return table


_CARRIERS: dict[str, Any] = {"grid": GRID, "fading": FADINGS, "csi": CSIS}
_LINKS: Any = one_of(
    mirror(IdealLink, "kind", "ideal"),
    mirror(GaussianLink, "kind", "gaussian"),
    mirror(FadingLink, "kind", "fading", fading=FADINGS, csi=CSIS),
    mirror(OfdmLink, "kind", "ofdm", **_CARRIERS),
    mirror(WaveformLink, "kind", "waveform", **_CARRIERS, transmit=TRANSMIT, receive=RECEIVE),
    mirror(OrthogonalLink, "kind", "orthogonal", grid=GRID, fading=FADINGS),
)
LINKS: Any = Annotated[_LINKS, BeforeValidator(upgraded)]
"""The links that a scenario can choose; a new one needs a line here."""
