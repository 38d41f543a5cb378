"""Links between clients and server: they plug the radio into the learning.

Uplinks go from an exact sum to sampled waveforms; downlinks bring the model to the clients.
"""

from links.fading import FadingLink
from links.gaussian import GaussianLink
from links.gaussian_downlink import GaussianDownlink
from links.ideal import IdealLink
from links.ofdm import OfdmLink
from links.ofdm_downlink import OfdmDownlink
from links.orthogonal import OrthogonalLink
from links.quantised_downlink import QuantisedDownlink
from links.realisations import realise
from links.waveform import WaveformLink

# fmt: off
__all__ = [
    "FadingLink", "GaussianDownlink", "GaussianLink", "IdealLink", "OfdmDownlink", "OfdmLink",
    "OrthogonalLink", "QuantisedDownlink", "WaveformLink", "realise",
]
# fmt: on
