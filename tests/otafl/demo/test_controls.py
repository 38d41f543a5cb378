"""The controls of the page, and what they are set to."""

from __future__ import annotations

import pytest

from otafl.demo.controls import Controls
from otafl.demo.presets import PRESETS
from otafl.demo.setting import RANGES, Setting


@pytest.mark.parametrize("name", PRESETS)
def test_there_and_back(name):
    setting = PRESETS[name].setting
    assert Controls(setting).setting == setting
    controls = Controls(Setting())
    controls.set(setting)
    assert controls.setting == setting


def test_sliders_have_the_ranges_of_the_settings():
    for name, (start, end, step) in RANGES.items():
        widget = Controls(Setting()).widgets[name]
        low, high = ("low", "high") if name == "seed" else ("start", "end")
        assert (getattr(widget, low), getattr(widget, high), widget.step) == (start, end, step)


@pytest.mark.parametrize(("typed", "taken"), [(None, 0), (-4, 0), (10**9, 999_999), (7, 7)])
def test_a_seed_that_is_typed_in_is_brought_into_its_range(typed, taken):
    controls = Controls(Setting())
    controls.widgets["seed"].value = typed
    assert controls.setting.seed == taken
