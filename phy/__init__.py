"""The radio layer, independent of the learning layer."""

from phy.cir_fading import CirFading
from phy.csi import AgedCsi, Csi, NoisyCsi, PerfectCsi, PilotCsi
from phy.fading import Fading, NoFading, Rayleigh, Rician, Taps, Tdl
from phy.grid import OfdmGrid
from phy.packing import Packing
from phy.sionna_cellular import SionnaRma, SionnaUma, SionnaUmi
from phy.sionna_fading import SionnaFading
from phy.sionna_models import SionnaCdl, SionnaTdl

# fmt: off
__all__ = [
    "AgedCsi", "CirFading", "Csi", "Fading", "NoFading", "NoisyCsi", "OfdmGrid", "Packing",
    "PerfectCsi", "PilotCsi", "Rayleigh", "Rician", "SionnaCdl", "SionnaFading", "SionnaRma",
    "SionnaTdl", "SionnaUma", "SionnaUmi", "Taps", "Tdl",
]
# fmt: on
