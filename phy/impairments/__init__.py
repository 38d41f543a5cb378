"""Hardware impairments, each a frozen dataclass with physical units.

They act on the samples of a slot, in the order of the link's lists, and are residual:
clients do not see them in their CSI unless it is taken through the hardware.
"""

from phy.impairments.amplifier import ClipAndFilter, Rapp, SoftLimiter
from phy.impairments.clocks import ClockOffset, TimingOffset
from phy.impairments.converter import Adc, IqImbalance
from phy.impairments.devices import Devices
from phy.impairments.impairment import Impairment, SlotContext
from phy.impairments.oscillator import CarrierOffset, PhaseNoise
from phy.synchronisation import CarrierSync, TimingAdvance

# fmt: off
__all__ = [
    "Adc", "CarrierOffset", "CarrierSync", "ClipAndFilter", "ClockOffset", "Devices",
    "Impairment", "IqImbalance", "PhaseNoise", "Rapp", "SlotContext", "SoftLimiter",
    "TimingAdvance", "TimingOffset",
]
# fmt: on
