"""Settings of the page, and the link that they make."""

from __future__ import annotations

from dataclasses import fields

import pytest

from links import OfdmLink, WaveformLink
from otafl.demo.setting import CHOICES, RANGES, Setting
from phy.impairments import CarrierOffset, Rapp

FAULTY = Setting(clients=4, csi_error=0.05, carrier_offset=0.02, backoff_db=3.0)


def test_the_link_is_in_samples_only_where_there_are_faults():
    assert isinstance(Setting().link(), OfdmLink)
    assert isinstance(Setting(backoff_db=6.0).link(), WaveformLink)
    assert FAULTY.link().transmit == (CarrierOffset(std=0.02), Rapp(backoff_db=3.0))


def test_every_option_has_a_range_or_choices_with_the_default_among_them():
    names = {field.name for field in fields(Setting)}
    assert names == RANGES.keys() | CHOICES.keys()
    for name, (start, end, step) in RANGES.items():
        default = getattr(Setting(), name)
        assert start <= default <= end
        assert (default - start) / step == pytest.approx(round((default - start) / step))


@pytest.mark.parametrize("name", CHOICES)
def test_other_choices_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be one of .*got 'fog'"):
        Setting(**{name: "fog"})
