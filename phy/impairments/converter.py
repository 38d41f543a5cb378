"""Mixers and converters: I and Q that differ, and too few bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from phy.checks import Scalars, assign, integer, number, numbers_each
from phy.impairments.amplifier import checked_backoff, note_clipping
from phy.impairments.burst import Burst


@dataclass(frozen=True)
class IqImbalance:
    r"""I and Q of unequal gain and not at right angles: y = a x + b x*, with

        a = (1 + g e^{j phi}) / 2,    b = (1 - g e^{j phi}) / 2,    g = 10^(gain_db / 20)

    I goes through as it is, Q with gain g and turned by phi. Carrier k gets an image of carrier -k,
    |b|^2 / |a|^2 in power. It belongs to a device and stays for the whole run.

    gain_db : [dB], one, or one a client (by global index)
    phase_deg : phi [degrees], one, or one a client
    gain_std_db, phase_std_deg : of what is drawn for each device, cut at four deviations
    """

    gain_db: Scalars = 0.0
    phase_deg: Scalars = 0.0
    gain_std_db: float = 0.0
    phase_std_deg: float = 0.0

    def __post_init__(self) -> None:
        assign(
            self,
            gain_db=numbers_each("IqImbalance.gain_db", self.gain_db, least=-20, most=20),
            phase_deg=numbers_each("IqImbalance.phase_deg", self.phase_deg, least=-45, most=45),
            gain_std_db=number("IqImbalance.gain_std_db", self.gain_std_db, least=0, most=5),
            phase_std_deg=number("IqImbalance.phase_std_deg", self.phase_std_deg, least=0, most=11),
        )

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        gain_db = burst.devices.values("IqImbalance.gain_db", self.gain_db, self.gain_std_db)
        degrees = burst.devices.values("IqImbalance.phase_deg", self.phase_deg, self.phase_std_deg)
        turned = 10 ** (gain_db / 20) * np.exp(1j * np.deg2rad(degrees))
        direct, image = ((1 + turned) / 2, (1 - turned) / 2)
        return (
            direct.astype(np.complex64)[:, None] * samples
            + image.astype(np.complex64)[:, None] * samples.conj()
        )


@lru_cache
def best_backoff_db(bits: int) -> float:
    """With the least mean square error on Gaussian samples (J. Max, "Quantizing for minimum
    distortion", IRE Trans. Inf. Theory 6(1), 1960, table II: a step of 1.596 for one bit).

    >>> print(f"{10 ** (best_backoff_db(1) / 20):.3f}")
    1.596
    """
    samples = np.linspace(0, 10, 200_001)
    density = np.exp(-(samples**2) / 2)

    def error(full_scale: float) -> float:
        step = 2 * full_scale / 2**bits
        level = np.minimum(np.floor(samples / step), 2 ** (bits - 1) - 1) + 0.5
        return float((np.square(level * step - samples) * density).sum())

    found = minimize_scalar(error, bounds=(0.5, 8.0), method="bounded", options={"xatol": 1e-4})
    return 20 * math.log10(found.x)


@dataclass(frozen=True)
class Adc:
    """A uniform quantiser for each of I and Q, with a step at zero (mid-rise).

    Full scale is +-F with F = rms 10^(backoff_db / 20) / sqrt(2): rms / sqrt(2) is that of I or Q
    alone. At the server, gain control sets it by what arrives in a burst; among a client's faults
    it is a digital-to-analog converter, set up for the client's budget. Beyond full scale it clips,
    which is counted for I and Q apart. Within it the rounding has the power step^2 / 12 in each of
    I and Q, step = 2 F / 2^bits.

    bits : of each of I and Q
    backoff_db : full-scale power over that of I or Q [dB]; None for the one with the least error on
        Gaussian samples
    """

    bits: int = 12
    backoff_db: float | None = None

    def __post_init__(self) -> None:
        assign(self, bits=integer("Adc.bits", self.bits, least=1))
        if self.bits > 24:
            raise ValueError(f"Adc.bits = {self.bits} is not allowed: give 1 to 24")
        if self.backoff_db is not None:
            assign(self, backoff_db=checked_backoff("Adc", self.backoff_db))

    def apply(self, samples: NDArray[np.complex64], burst: Burst) -> NDArray[np.complex64]:
        backoff = best_backoff_db(self.bits) if self.backoff_db is None else self.backoff_db
        full_scale = burst.rms * 10 ** (backoff / 20) / np.sqrt(2)
        if not full_scale.all():
            return samples  # nothing arrives, not even noise
        step = (2 * full_scale / 2**self.bits)[:, None]
        rails = samples.view(np.float32)
        note_clipping(np.abs(rails), full_scale.astype(np.float32)[:, None], burst)
        most = 2 ** (self.bits - 1) - 0.5
        levels = np.clip(np.floor(rails / step) + 0.5, -most, most)
        return (levels * step).astype(np.float32).view(np.complex64)
