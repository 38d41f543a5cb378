"""The radio; it knows nothing of learning."""

from phy.csi import AgedCsi, NoisyCsi, PerfectCsi, PilotCsi
from phy.fading import NoFading, Rayleigh, Rician, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing
from phy.sionna_fading import SionnaFading

__all__ = [
    "AgedCsi",
    "NoFading",
    "NoisyCsi",
    "OfdmGrid",
    "Packing",
    "PerfectCsi",
    "PilotCsi",
    "Rayleigh",
    "Rician",
    "SionnaFading",
    "Tdl",
]
