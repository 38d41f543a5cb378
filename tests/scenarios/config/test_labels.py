"""Labels of swept keys."""

from __future__ import annotations

from scenarios import load_scenario
from scenarios.config.labels import LABELS, label_of
from scenarios.config.library import bundled


def test_every_key_that_a_bundled_scenario_sweeps_has_a_label():
    names = {axis.name for name in bundled() for axis in load_scenario(name).sweep.axes}
    assert len(names) > 12
    assert {name for name in names if name not in LABELS} <= {"budget", "fading", "steps", "power"}


def test_levels_in_decibels_say_so():
    for name, label in LABELS.items():
        assert (label.unit == "dB") == name.endswith("_db"), name


def test_others_are_named_in_words():
    assert label_of("server_step").text == "server step"
    assert label_of("server_step").unit == ""
