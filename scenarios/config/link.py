"""The table ``link`` of a scenario, and the tables of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import phy
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from links.radio import DEFAULT_SNR_DB
from phy import impairments
from scenarios.config.catalogue import Catalogue
from scenarios.config.parts import NONE, NOTHING, ROWS, TABLES, field_type, mirror
from scenarios.config.tables import Chain, Choice, One, optional

SNRS = ("snr_db", "entry_snr_db")

LINKS = Catalogue("link", "kind", methods=["open"])
FADINGS = Catalogue("fading", "kind", must=phy.Fading)
CSIS = Catalogue("csi", "kind", must=phy.Csi)
IMPAIRMENTS = Catalogue("impairment", "kind", must=impairments.Impairment)
"""The links, fadings, CSI and impairments that a scenario can choose; a new one needs a line below.

The impairments of ours are not in their catalogue, since they are named by the keys of a chain.
"""

TABLES[phy.OfdmGrid] = One(mirror(phy.OfdmGrid))
TABLES[phy.Fading] = Choice(FADINGS)
TABLES[phy.Csi] = Choice(CSIS)

FADINGS.add("none", phy.NoFading)
FADINGS.add("rayleigh", phy.Rayleigh)
FADINGS.add("rician", phy.Rician)
FADINGS.add("tdl", phy.Tdl)
FADINGS.add("cir", phy.CirFading)
FADINGS.own["cir"].file_key = "file"
FADINGS.add("sionna-tdl", phy.SionnaTdl)
FADINGS.add("sionna-cdl", phy.SionnaCdl)
FADINGS.add("sionna-umi", phy.SionnaUmi)
FADINGS.add("sionna-uma", phy.SionnaUma)
FADINGS.add("sionna-rma", phy.SionnaRma)

CSIS.add("perfect", phy.PerfectCsi)
CSIS.add("noisy", phy.NoisyCsi)
CSIS.add("pilot", phy.PilotCsi)
CSIS.add("aged", phy.AgedCsi)

# Impairments, in the order in which a signal passes them
_CONVERTER, _CLOCK = mirror(impairments.Adc), mirror(impairments.ClockOffset)
_IQ, _PHASE_NOISE = mirror(impairments.IqImbalance), mirror(impairments.PhaseNoise)
_LIMITER, _RAPP = mirror(impairments.SoftLimiter), mirror(impairments.Rapp)
_SYNC, _ADVANCE = mirror(impairments.CarrierSync), mirror(impairments.TimingAdvance)
TRANSMIT = Chain(
    IMPAIRMENTS,
    last=True,
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
RECEIVE = Chain(
    IMPAIRMENTS,
    last=False,
    timing_offset=mirror(impairments.TimingOffset, advance=NOTHING),
    soft_limiter=_LIMITER,
    rapp=_RAPP,
    phase_noise=_PHASE_NOISE,
    carrier_offset=mirror(impairments.CarrierOffset, sync=NOTHING),
    iq_imbalance=_IQ,
    clock_offset=_CLOCK,
    adc=_CONVERTER,
)

ROWS["transmit", impairments.Impairment] = TRANSMIT
ROWS["receive", impairments.Impairment] = RECEIVE

LINKS.add("ideal", IdealLink)
LINKS.add("gaussian", GaussianLink)
LINKS.add("fading", FadingLink)
LINKS.add("ofdm", OfdmLink)
LINKS.add("waveform", WaveformLink)
LINKS.add("orthogonal", OrthogonalLink)


def upgraded(table: Any) -> Any:
    """Return a link's table as this version means it.

    Version 0.1 wrote out both SNRs as "none" for its default of 10 dB.
    """
    if isinstance(table, Mapping) and all(table.get(name) == NONE for name in SNRS):
        return {**table, "snr_db": DEFAULT_SNR_DB}
    return table


LINK: Any = field_type(Choice(LINKS, prepare=upgraded))
