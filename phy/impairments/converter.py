"""Mixers and converters: I and Q that differ, and too few bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar

from otafl._base.arrays import ComplexArray
from otafl._base.decibels import amplitude_from_db
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, integer, number, scalars
from phy.grid import OfdmGrid
from phy.impairments.amplifier import checked_backoff
from phy.impairments.devices import check_per_device
from phy.impairments.impairment import Impairment, SlotContext


@options
@dataclass(frozen=True)
class IqImbalance(Impairment):
    r"""Gain and phase imbalance between I and Q.

    It is a property of a device and stays the same for the whole run.

    Parameters
    ----------
    gain_db : float or sequence of float
        A scalar, or one value per client by global index [dB].
    phase_deg : float or sequence of float
        phi, a scalar or one value per client [degrees].
    gain_std_db, phase_std_deg : float
        Standard deviations of the per-device draw, truncated at 4 standard deviations.

    Notes
    -----
    I passes unchanged, Q with gain g and turned by phi: y = a x + b x*, with

        a = (1 + g e^{j phi}) / 2,    b = (1 - g e^{j phi}) / 2,    g = 10^(gain_db / 20)

    Carrier k gets an image of carrier -k, |b|^2 / |a|^2 in power.
    """

    gain_db: Scalars = 0.0
    phase_deg: Scalars = 0.0
    gain_std_db: float = 0.0
    phase_std_deg: float = 0.0
    device_draws = ("IqImbalance.gain_db", "IqImbalance.phase_deg")

    def __post_init__(self) -> None:
        assign(
            self,
            gain_db=scalars("IqImbalance.gain_db", self.gain_db, least=-20, most=20),
            phase_deg=scalars("IqImbalance.phase_deg", self.phase_deg, least=-45, most=45),
            gain_std_db=number("IqImbalance.gain_std_db", self.gain_std_db, least=0, most=5),
            phase_std_deg=number("IqImbalance.phase_std_deg", self.phase_std_deg, least=0, most=11),
        )

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Reject one value per client at the server, or too few of them."""
        check_per_device("IqImbalance.gain_db", self.gain_db, side, num_devices)
        check_per_device("IqImbalance.phase_deg", self.phase_deg, side, num_devices)

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples with their image."""
        gain_db = slot.devices.values("IqImbalance.gain_db", self.gain_db, self.gain_std_db)
        degrees = slot.devices.values("IqImbalance.phase_deg", self.phase_deg, self.phase_std_deg)
        turned = amplitude_from_db(gain_db) * np.exp(1j * np.deg2rad(degrees))
        direct, image = ((1 + turned) / 2, (1 - turned) / 2)
        return (
            direct.astype(np.complex64)[:, None] * samples
            + image.astype(np.complex64)[:, None] * samples.conj()
        )


@lru_cache
def best_backoff_db(bits: int) -> float:
    """Return the backoff [dB] with the least mean square error on Gaussian samples.

    J. Max, "Quantizing for minimum distortion", IRE Trans. Inf. Theory 6(1), 1960, table II: a step
    of 1.596 for one bit.

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


@options
@dataclass(frozen=True)
class Adc(Impairment):
    """A uniform quantiser for each of I and Q, with a step at zero (mid-rise).

    At the server, gain control sets full scale by what arrives in a slot; among a client's
    impairments it is a digital-to-analog converter, set up for the client's budget. Beyond full
    scale it clips, which is counted separately for I and Q.

    Parameters
    ----------
    bits : int
        Bits per I and per Q.
    backoff_db : float or None
        Full-scale power over that of I or Q [dB]; None for the one with the least error on Gaussian
        samples.

    Notes
    -----
    Full scale is +-F with F = rms 10^(backoff_db / 20) / sqrt(2), where rms / sqrt(2) is that of I
    or Q alone. Within it the rounding error has power step^2 / 12 in each of I and Q,
    step = 2 F / 2^bits.
    """

    bits: int = 12
    backoff_db: float | None = None

    def __post_init__(self) -> None:
        assign(self, bits=integer("Adc.bits", self.bits, least=1, most=24))
        if self.backoff_db is not None:
            assign(self, backoff_db=checked_backoff("Adc", self.backoff_db))

    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return the samples, quantised."""
        backoff = best_backoff_db(self.bits) if self.backoff_db is None else self.backoff_db
        full_scale = slot.rms * amplitude_from_db(backoff) / np.sqrt(2)
        if not full_scale.all():
            return samples  # nothing arrives, not even noise
        step = (2 * full_scale / 2**self.bits)[:, None]
        rails = samples.view(np.float32)
        slot.report_clipping(np.abs(rails), full_scale.astype(np.float32)[:, None])
        most = 2 ** (self.bits - 1) - 0.5
        levels = np.clip(np.floor(rails / step) + 0.5, -most, most)
        return (levels * step).astype(np.float32).view(np.complex64)
