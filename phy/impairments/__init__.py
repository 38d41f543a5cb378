"""Faults of hardware, each a frozen dataclass with physical units.

They act on sampled bursts, in the order in which a link has them, and are residual: clients do not
see them in their CSI unless it is taken through them.
"""

from phy.impairments.amplifier import ClipAndFilter, Rapp, SoftLimiter
from phy.impairments.burst import Burst, Devices, Impairment
from phy.impairments.clocks import ClockOffset, TimingOffset
from phy.impairments.converter import Adc, IqImbalance
from phy.impairments.oscillator import CarrierOffset, PhaseNoise
from phy.synchronisation import CarrierSync, TimingAdvance

__all__ = [
    "Adc",
    "Burst",
    "CarrierOffset",
    "CarrierSync",
    "ClipAndFilter",
    "ClockOffset",
    "Devices",
    "Impairment",
    "IqImbalance",
    "PhaseNoise",
    "Rapp",
    "SoftLimiter",
    "TimingAdvance",
    "TimingOffset",
]
