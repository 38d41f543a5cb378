"""A reader's walk: how many files of links and phy one round passes through."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import links
import phy
from links import OfdmLink, WaveformLink

FOLDERS = {name: str(Path(each.__file__).parent) for name, each in (("links", links), ("phy", phy))}


def files_of_a_round(link):
    """The files of links and phy whose functions run from open to send, caches warm."""
    signals = np.random.default_rng(1).standard_normal((3, 1000)).astype(np.float32)

    def a_round():
        uplink = link.open(3, 1000, np.random.default_rng(2))
        return uplink.send(signals, uplink.max_gain(signals))

    a_round()
    called = set()

    def note(frame, event, _):
        if event == "call":
            called.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        a_round()
    finally:
        sys.setprofile(before)
    return {
        layer: sorted(Path(name).name for name in called if name.startswith(folder + "/"))
        for layer, folder in FOLDERS.items()
    }


@pytest.mark.parametrize(
    ("link", "most_links", "most_phy"), [(OfdmLink(), 4, 8), (WaveformLink(), 4, 14)]
)
def test_a_round_passes_through_few_files(link, most_links, most_phy):
    walk = files_of_a_round(link)
    assert "uplink.py" in walk["links"]  # it saw something
    assert "csi.py" in walk["phy"]
    assert len(walk["links"]) <= most_links, walk["links"]
    assert len(walk["phy"]) <= most_phy, walk["phy"]
