"""Uplinks, from an exact sum to OFDM: they plug the radio into the learning."""

from links.fading import FadingLink
from links.gaussian import GaussianLink
from links.ideal import IdealLink
from links.ofdm import OfdmLink
from links.orthogonal import OrthogonalLink

__all__ = ["FadingLink", "GaussianLink", "IdealLink", "OfdmLink", "OrthogonalLink"]
