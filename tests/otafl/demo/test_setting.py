"""Settings of the page, and the link that they make."""

from __future__ import annotations

from links import OfdmLink, WaveformLink
from otafl.demo.setting import Setting
from phy.impairments import CarrierOffset, Rapp

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


def test_the_link_is_in_samples_only_where_there_are_faults():
    assert isinstance(Setting().link(), OfdmLink)
    assert isinstance(Setting(backoff_db=6.0).link(), WaveformLink)
    assert FAULTY.link().transmit == (CarrierOffset(std=0.02), Rapp(backoff_db=3.0))
