"""The fast engines beside Sionna's blocks, and the links beside one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links import IdealLink, OfdmLink, WaveformLink
from phy import NoFading, NoisyCsi, PilotCsi, Tdl
from phy.impairments import Adc, CarrierOffset, PhaseNoise, Rapp
from scenarios.validation.claims import Claim, at_most
from scenarios.validation.oracle import Chapter

CLIENTS, LENGTH = 4, 3000
FAULTS: dict[str, Any] = {
    "transmit": (CarrierOffset(std=0.01), PhaseNoise(100.0), Rapp(backoff_db=6.0)),
    "receive": (Adc(bits=10),),
}
ORACLES = Chapter()


@ORACLES.law("stock Sionna", r"\text{the same channel and faults}")
def sionna(rng: np.random.Generator) -> Iterator[Claim]:
    """Agreement of the fast engines with Sionna's blocks, without noise."""
    signals = rng.standard_normal((CLIENTS, LENGTH)).astype(np.float32)
    links: dict[str, OfdmLink | WaveformLink] = {
        "OfdmLink, TDL-A, pilots": OfdmLink(fading=Tdl("A"), csi=PilotCsi(), snr_db=np.inf),
        "OfdmLink, TDL-C, 300 ns": OfdmLink(fading=Tdl("C", delay_spread=300e-9), snr_db=np.inf),
        "WaveformLink, TDL-A": WaveformLink(fading=Tdl("A"), snr_db=np.inf),
        "WaveformLink, TDL-A, faults": WaveformLink(fading=Tdl("A"), snr_db=np.inf, **FAULTS),
    }
    for what, link in links.items():
        seed = int(rng.integers(2**32))
        ours, theirs = (
            _sum(replace(link, engine=engine), signals, np.random.default_rng(seed))
            for engine in ("fast", "sionna")
        )
        # a few samples may fall on the other side of a converter's step
        error = np.quantile(np.abs(ours - theirs), 0.99) / np.abs(theirs).max()
        yield at_most(f"{what}: difference of the sums, 99 % of entries", error, 1e-4)


def _sum(link: Any, signals: NDArray, rng: np.random.Generator) -> NDArray:
    """Without noise, which would hide a difference."""
    uplink = link.open(CLIENTS, LENGTH, rng)
    return uplink.send(signals, uplink.max_gain(signals)).total


@ORACLES.law("exact sum", r"\sum_i s_i \text{ without noise and truncation}")
def ladder(rng: np.random.Generator) -> Iterator[Claim]:
    """Without noise and truncation every link gives the exact sum."""
    signals = rng.standard_normal((CLIENTS, LENGTH)).astype(np.float32)
    total = IdealLink().open(CLIENTS, LENGTH, rng).send(signals, 1.0).total
    for fading in (NoFading(), Tdl("A")):
        for kind in (OfdmLink, WaveformLink):
            # not exactly zero, or the fast engine would skip the division by known channels
            csi = NoisyCsi(1e-14)
            link = kind(fading=fading, csi=csi, truncation=0.0, snr_db=np.inf)
            error = np.abs(_sum(link, signals, rng) - total).max() / np.abs(total).max()
            name = "no fading" if isinstance(fading, NoFading) else "TDL-A"
            yield at_most(f"{kind.__name__}, {name}: largest error of the sum", error, 1e-4)
