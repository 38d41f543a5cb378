"""The radio layer, independent of the learning layer."""

from phy.csi import AgedCsi, Csi, NoisyCsi, PerfectCsi, PilotCsi
from phy.fading import Fading, NoFading, Rayleigh, Rician, Taps, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing
from phy.sionna_fading import SionnaFading

# fmt: off
__all__ = [
    "AgedCsi", "Csi", "Fading", "NoFading", "NoisyCsi", "OfdmGrid", "Packing", "PerfectCsi",
    "PilotCsi", "Rayleigh", "Rician", "SionnaFading", "Taps", "Tdl",
]
# fmt: on
