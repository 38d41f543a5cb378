"""Uplinks, from an exact sum to sampled waveforms: they plug the radio into the learning."""

from links.fading import FadingLink
from links.gaussian import GaussianLink
from links.ideal import IdealLink
from links.ofdm import OfdmLink
from links.orthogonal import OrthogonalLink
from links.realisations import realise
from links.waveform import WaveformLink

# fmt: off
__all__ = [
    "FadingLink", "GaussianLink", "IdealLink", "OfdmLink", "OrthogonalLink", "WaveformLink",
    "realise",
]
# fmt: on
