"""One round over every link: clients send vectors, the true and the received sum are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fl.api import Link, Reception
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink
from links.ofdm import OfdmSlot
from links.theory import expected_mse

CLIENTS, LENGTH, SEED = 10, 7850, 1
BLOCK_SNR_DB, ENTRY_SNR_DB = 10.0, 10.0


@dataclass(frozen=True)
class Row:
    """One link at one SNR.

    expected_nmse : by :mod:`links.theory` for the gain that was sent with; None without closed form
    """

    name: str
    nmse: float
    expected_nmse: float | None
    airtime: float
    energy: float


def model_updates(rng: np.random.Generator) -> NDArray[np.float32]:
    """Vectors like model updates: three quarters of their energy in a tenth of the entries."""
    envelope = 0.3 + 2.7 * np.exp(-np.square(np.linspace(-3, 12, LENGTH)))
    return (envelope * rng.standard_normal((CLIENTS, LENGTH))).astype(np.float32)


def links_at(snr_db: float | None = None, entry_snr_db: float | None = None) -> dict[str, Link]:
    snr: dict[str, Any] = {"snr_db": snr_db, "entry_snr_db": entry_snr_db}
    return {
        "exact sum": IdealLink(),
        "Gaussian MAC": GaussianLink(**snr),
        "flat Rayleigh": FadingLink(truncation=0.05, **snr),
        "OFDM, TDL-A": OfdmLink(**snr),
        "OFDM, through Sionna": OfdmLink(engine="sionna", **snr),
        "OFDM, MMSE control": OfdmLink(control="mmse", **snr),
        "orthogonal, 8 bits": OrthogonalLink(**snr),
    }


def send(link: Link, signals: NDArray[np.float32]) -> tuple[Reception, float]:
    """One round at the largest gain that every budget allows."""
    slot = link.open(CLIENTS, LENGTH, np.random.default_rng(SEED))
    gain = float(slot.max_gain(signals))
    return slot.send(signals, gain), gain


def compare(
    signals: NDArray[np.float32], snr_db: float | None = None, entry_snr_db: float | None = None
) -> list[Row]:
    """A round over each link, all with the same seed."""
    rows = []
    power = float(np.square(signals.sum(axis=0)).sum())
    for name, link in links_at(snr_db, entry_snr_db).items():
        reception, gain = send(link, signals)
        expected = None
        if getattr(link, "control", "inversion") == "inversion":
            expected = float(expected_mse(link, signals, gain)) / power
        report = reception.diagnostics
        rows.append(
            Row(
                name=name,
                nmse=float(report["nmse"]),
                expected_nmse=expected,
                airtime=float(report["airtime"]),
                energy=float(report["radiated_energy"].sum()),
            )
        )
    return rows


def ofdm_slot(interleaver_seed: int | None = 0) -> OfdmSlot:
    """The OFDM round of the table, to look into."""
    link = OfdmLink(entry_snr_db=ENTRY_SNR_DB, interleaver_seed=interleaver_seed)
    return link.open(CLIENTS, LENGTH, np.random.default_rng(SEED))
