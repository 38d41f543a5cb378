# ruff: noqa: E501  (a table of lines)
"""``otafl list --parts``: every part that a scenario can name, with its options."""

from __future__ import annotations

import pytest

from scenarios.config.link import IMPAIRMENTS, LINKS
from scenarios.config.objects import CATALOGUES
from scenarios.report.parts import KEYS, listed
from tests.scenarios import small
from tests.scenarios.config.simple import one


@pytest.fixture(scope="module")
def sections():
    """The lines of each key."""
    found, key = {}, ""
    for line in listed():
        if line.startswith("  "):
            found[key].append(line.strip())
        else:
            key = line
            found[key] = []
    return found


def names(lines):
    return [line.partition(":")[0] for line in lines]


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("algorithm.name", 'fedavg: sends = "models"'),
        ("algorithm.name", 'cotaf: server_step = 1.0, precoding = "realised", margin = 1.0, window = 10.0'),
        ("algorithm.name", 'fedprox: aggregation = { name = "cotaf" }, mu = 0.01'),
        ("model.name", "mlp: hidden = [64]"),
        ("link.kind", "ideal: no options"),
        ("link.fading.kind", "tdl: speed = 0.0, carrier_frequency = 3500000000.0, model = \"A\", delay_spread = 1e-07"),
        ("link.csi.kind", 'aged: delay = 0.001, of = { kind = "perfect" }'),
        ("link.csi.kind", 'pilot: snr_db = 20.0, num_pilots = 1, num_taps = "none"'),
        ("data.partition", 'unbalanced: name = "mnist", standardise = false, shares (required)'),
        ("link.transmit", "phase_noise: linewidth = 10.0"),
        ("link.receive", 'adc: bits = 12, backoff_db = "none"'),
    ],
)  # fmt: skip
def test_options_have_the_defaults_that_a_file_would_have(key, line, sections):
    assert line in sections[key]


def test_every_part_of_ours_is_listed_under_its_key(sections):
    for catalogue in CATALOGUES:
        if catalogue.own:
            assert set(names(sections[KEYS[catalogue.kind]])) >= catalogue.own.keys()
    assert names(sections["link.kind"])[:6] == [
        "ideal", "gaussian", "fading", "ofdm", "waveform", "orthogonal"
    ]  # fmt: skip
    assert names(sections["link.receive"])[-1] == "adc"  # in the order of the signal


def test_options_of_a_link_are_those_of_its_table(sections):
    for line, kind in zip(sections["link.kind"], LINKS.own, strict=False):
        options = [name for name in one(link={"kind": kind}).link.settings() if name != "kind"]
        shown = line.partition(": ")[2]
        assert all(f"{name} = " in shown for name in options)


def test_impairments_are_listed_once_on_each_side(sections):
    assert IMPAIRMENTS.own == {}
    assert len(sections["link.transmit"]) == len(set(names(sections["link.transmit"]))) == 9
    assert len(sections["link.receive"]) == len(set(names(sections["link.receive"]))) == 8


def test_the_command_prints_the_list_and_how_to_name_a_class_of_one_s_own(tmp_path):
    done = small.otafl("list", "--parts", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == list(listed())
    assert done.stdout.splitlines()[-1].startswith('Where a name is given, "file.py:Class" or')
