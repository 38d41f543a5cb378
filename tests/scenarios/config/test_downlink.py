"""The table ``downlink``: built as described, swept, and nothing where it is left out."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from links import GaussianDownlink, OfdmDownlink, QuantisedDownlink
from phy import OfdmGrid, PilotCsi, Tdl
from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.study.batch import check
from tests.scenarios import small
from tests.scenarios.config.simple import SIMPLE, one, written


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, None),
        ({"kind": "none"}, None),
        ({"kind": "gaussian"}, GaussianDownlink()),
        ({"kind": "gaussian", "snr_db": [3, 4]}, GaussianDownlink(snr_db=[3.0, 4.0])),
        ({"kind": "gaussian", "entry_snr_db": float("inf")}, GaussianDownlink(entry_snr_db=np.inf)),
        (
            {
                "kind": "ofdm",
                "grid": {"fft_size": 256, "guards": [10, 9]},
                "fading": {"kind": "tdl", "speed": 3.0},
                "csi": {"kind": "pilot", "snr_db": 10.0},
                "equaliser": "zero-forcing",
                "interleaver_seed": "none",
            },
            OfdmDownlink(
                grid=OfdmGrid(fft_size=256, guards=(10, 9)),
                fading=Tdl("A", speed=3.0),
                csi=PilotCsi(snr_db=10.0),
                equaliser="zero-forcing",
                interleaver_seed=None,
            ),
        ),
        ({"kind": "quantised", "bits": 4, "snr_db": 30.0}, QuantisedDownlink(bits=4, snr_db=30.0)),
    ],
)
def test_a_downlink_is_built_as_described(table, expected):
    cell = one(downlink=table)
    assert cell.downlink.build() == expected
    assert cell.options()["downlink"] == expected


def test_without_a_downlink_a_cell_is_that_of_earlier_versions():
    plain = one()
    assert "downlink" not in plain.identity()
    assert one(downlink={"kind": "none"}).digest() == plain.digest()
    assert one(downlink={"kind": "gaussian"}).digest() != plain.digest()


def test_cells_are_trained_together_only_with_the_same_downlink():
    assert one().shared() != one(downlink={"kind": "gaussian"}).shared()


def test_a_resolved_scenario_is_read_back():
    axes = {"downlink.snr_db": [10.0, float("inf")], "link.snr_db": [0.0, 20.0]}
    scenario = load_scenario({**SIMPLE, "downlink": {"kind": "gaussian"}, "sweep": axes})
    assert written(scenario).cells == scenario.cells
    assert [axis.name for axis in scenario.sweep.axes] == ["downlink_snr_db", "snr_db"]


def test_kinds_are_swept():
    scenario = load_scenario({**SIMPLE, "sweep": {"downlink.kind": ["none", "ofdm", "quantised"]}})
    built = [cell.downlink.build() for cell in scenario.cells]
    assert built == [None, OfdmDownlink(), QuantisedDownlink()]
    assert written(scenario).cells == scenario.cells


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "gausian"}, "downlink.kind must be one of .*; did you mean 'gaussian'"),
        ({"kind": "gaussian", "bits": 3}, "downlink.bits is a key of quantised, not of gaussian"),
        ({"kind": "ofdm", "equaliser": "zf"}, "downlink.equaliser must be one of 'lmmse', 'zero-"),
        ({"kind": "quantised", "bits": 0}, "downlink.bits must be a whole number from 1 to 32"),
    ],
)
def test_mistakes_are_named(table, message):
    with pytest.raises(ScenarioError, match=message):
        one(downlink=table)


def test_devices_without_an_snr_are_noticed_before_any_work():
    cell = one(downlink={"kind": "gaussian", "snr_db": [1.0, 2.0]})
    with pytest.raises(ScenarioError, match=r"downlink\.snr_db must be a scalar or one value for"):
        check([(cell, "here")])


def test_a_study_of_a_users_downlink(tmp_path, data_file):
    (tmp_path / "half.py").write_text(
        textwrap.dedent('''
            from dataclasses import dataclass

            import numpy as np
            import otafl


            @dataclass(frozen=True)
            class Half:
                """Clients receive a part of the model."""

                part: float = 0.5

                def open(self, num_clients, length, rng, **who):
                    return Opened(self.part, num_clients)


            @dataclass(frozen=True)
            class Opened:
                part: float
                num_clients: int

                def broadcast(self, vector):
                    received = np.tile(self.part * vector, (self.num_clients, 1))
                    return otafl.Broadcast(received, {"downlink_nmse": (1 - self.part) ** 2})
        ''')
    )  # fmt: skip
    kind = f"{tmp_path}/half.py:Half"
    content = small.content(data_file, rounds=3, downlink={"kind": kind})
    content |= {"algorithm": {"name": "cotaf"}, "sweep": {"downlink.part": [0.5, 1.0]}}
    study = open_study(run_study(load_scenario(content), tmp_path / "study", progress=False))
    assert float(study["finished"].sum()) == 2
    np.testing.assert_array_equal(study["downlink_nmse"].isel(round=-1), [0.25, 0.0])
    content["downlink"]["kind"] = f"{tmp_path}/half.py:Opened"
    with pytest.raises(ScenarioError, match="a class that has open"):
        load_scenario(content)


def test_a_link_is_no_downlink():
    cell = one(downlink={"kind": "links:IdealLink"})
    with pytest.raises(ScenarioError, match="downlink.kind must be a downlink, whose open returns"):
        check([(cell, "here")])


def test_the_table_may_be_imported_first():
    """It needs the tables of grids and fading."""
    code = "from scenarios.config.downlink import DOWNLINKS as d; print(d.own['ofdm']().settings())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'grid': {'fft_size': 512" in done.stdout
