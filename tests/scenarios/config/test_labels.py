"""Labels of swept keys."""

from __future__ import annotations

from pathlib import Path

from scenarios import load_scenario
from scenarios.config.code import Code
from scenarios.config.labels import LABELS, Label, label_of
from scenarios.config.library import bundled
from scenarios.config.link import RECEIVE, TRANSMIT
from scenarios.config.objects import CATALOGUES
from scenarios.config.sweep import short_name
from scenarios.config.training import TrainingConfig

PLACES = {
    "algorithm": "algorithm",
    "model": "model",
    "link": "link",
    "fading": "link.fading",
    "csi": "link.csi",
    "partition": "data",
    "participation": "participation",
}


def keys():
    """Yield every key that a scenario can sweep, from the parts that it can name."""
    code = Code(Path())
    for catalogue in CATALOGUES:
        if catalogue.kind not in PLACES:
            continue
        place = PLACES[catalogue.kind]
        yield f"{place}.{catalogue.chooser}"
        for name in catalogue.own:
            for option in catalogue.find(name, code).model_fields:
                yield f"{place}.{option}"
    for side, chain in (("transmit", TRANSMIT), ("receive", RECEIVE)):
        for name, config in chain.named.items():
            for option in config.model_fields:
                yield f"link.{side}.{name}.{option}"
    for option in TrainingConfig.model_fields:
        yield f"training.{option}"
    grid = type(load_scenario("quickstart").cells[0].link.grid)
    for option in grid.model_fields:
        yield f"link.grid.{option}"


def test_every_key_that_can_be_swept_has_a_label():
    names = {short_name(key) for key in keys() if not key.endswith(".sha256")}
    assert len(names) > 80
    assert {name for name in names if name not in LABELS} == set()


def test_every_key_that_a_bundled_scenario_sweeps_has_a_label():
    names = {axis.name for name in bundled() for axis in load_scenario(name).sweep.axes}
    assert len(names) > 12
    assert names <= set(LABELS)


def test_levels_in_decibels_say_so():
    for name, label in LABELS.items():
        assert (label.unit == "dB") == name.endswith("_db"), name


def test_texts_are_plain_and_short_ones_short():
    """Tables print the texts; legends have room for a few short words."""
    for name, label in LABELS.items():
        assert "$" not in label.text, name
        assert len(label.symbol) <= 22, name
        assert len(label.text) <= 40, name


def test_others_are_named_in_words():
    assert label_of("own_option") == Label("own option")


def test_values():
    assert LABELS["truncation"].value(0.05) == "$g$ = 0.05"
    assert LABELS["snr_db"].value(-39.949) == "SNR = \N{MINUS SIGN}39.9 dB"
    assert LABELS["clients"].value(100) == "$m$ = 100"
    assert LABELS["csi_through_faults"].value(True) == "CSI through hardware = True"
