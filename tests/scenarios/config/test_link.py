"""The table ``link``: every link is built as described."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    IqImbalance,
    Rapp,
    TimingAdvance,
    TimingOffset,
)
from tests.scenarios.config.simple import one


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"kind": "ideal"}, IdealLink()),
        ({"kind": "gaussian", "snr_db": 3}, GaussianLink(snr_db=3.0)),
        ({"kind": "gaussian", "snr_db": float("inf")}, GaussianLink(snr_db=float("inf"))),
        ({"kind": "ofdm"}, OfdmLink()),
        ({"kind": "orthogonal", "bits": 4}, OrthogonalLink(bits=4)),
        (
            {"kind": "fading", "power": [1.0, 2.0], "fading": {"kind": "rician", "k_factor": 2.0}},
            FadingLink(power=[1.0, 2.0], fading=Rician(2.0)),
        ),
        (
            {"kind": "fading", "fading": {"kind": "rayleigh", "speed": 2.0}},
            FadingLink(fading=Rayleigh(speed=2.0)),
        ),
        (
            {
                "kind": "ofdm",
                "grid": {"fft_size": 256, "guards": [10, 9]},
                "fading": {"kind": "tdl", "model": "C", "speed": 3.0},
                "csi": {"kind": "aged", "delay": 2e-3, "of": {"kind": "pilot", "num_taps": 8}},
                "interleaver_seed": "none",
                "control": "mmse",
                "variances": "reported",
                "budget": "round",
                "engine": "sionna",
            },
            OfdmLink(
                grid=OfdmGrid(fft_size=256, guards=(10, 9)),
                fading=Tdl("C", speed=3.0),
                csi=AgedCsi(2e-3, of=PilotCsi(num_taps=8)),
                interleaver_seed=None,
                control="mmse",
                variances="reported",
                budget="round",
                engine="sionna",
            ),
        ),
        (
            {
                "kind": "waveform",
                "grid": {"pilots": 4},
                # in a file, faults stand in the order of the parts of a radio, however written
                "transmit": {
                    "timing_offset": {"std": 1.0, "advance": {"resolution": 0.5}},
                    "rapp": {"backoff_db": 6.0},
                    "carrier_offset": {"offset": [0.1, 0.2], "sync": {"snr_db": 30.0}},
                    "iq_imbalance": "none",
                    "clip_and_filter": {},
                },
                "receive": {"adc": {"bits": 6}, "iq_imbalance": {"gain_db": 1.0}},
                "window_advance": 3,
                "csi_through_faults": True,
            },
            WaveformLink(
                grid=OfdmGrid(pilots=4),
                transmit=(
                    ClipAndFilter(),
                    CarrierOffset([0.1, 0.2], sync=CarrierSync(30.0)),
                    Rapp(6.0),
                    TimingOffset(std=1.0, advance=TimingAdvance(0.5)),
                ),
                receive=(IqImbalance(1.0), Adc(6)),
                window_advance=3,
                csi_through_faults=True,
            ),
        ),
    ],
)
def test_links_are_built_as_described(table, expected):
    assert one(link=table).link.build() == expected


def test_every_option_of_every_link_has_a_key():
    for link, kind in (
        (IdealLink, "ideal"),
        (GaussianLink, "gaussian"),
        (FadingLink, "fading"),
        (OfdmLink, "ofdm"),
        (OrthogonalLink, "orthogonal"),
        (WaveformLink, "waveform"),
    ):
        settings = one(link={"kind": kind}).link.settings()
        assert settings.keys() == {"kind", *(field.name for field in fields(link))}


def test_defaults_of_the_file_are_those_of_the_links():
    assert one(link={"kind": "ofdm"}).link.csi.build() == PerfectCsi()
    assert one().data.settings() == {
        "standardise": False,
        "partition": "label",
        "name": "mnist",
        "sha256": "",
        "clients": 10,
        "labels_per_client": 2,
    }


def test_arrays_are_lists():
    cell = one(
        algorithm={"name": "acpc", "tau_max": np.arange(1, 4)},
        link={"kind": "gaussian", "power": np.ones(3), "snr_db": np.float64(3.0)},
    )
    assert cell.link.build() == GaussianLink(power=[1.0, 1.0, 1.0], snr_db=3.0)
    assert cell.algorithm.tau_max == [1, 2, 3]


def recording(folder, name="cir.npz", clients=4):
    rng = np.random.default_rng(1)
    a = rng.standard_normal((clients, 50, 2)) + 1j * rng.standard_normal((clients, 50, 2))
    np.savez(folder / name, a=a, tau=np.tile([0.0, 200e-9], (clients, 1)), interval=0.1)
    return folder / name


def test_a_recording_beside_the_scenario_counts_by_its_content(tmp_path, monkeypatch):
    import tomli_w

    from scenarios import ScenarioError, load_scenario

    content = {
        "algorithm": {"name": "cotaf"},
        "link": {"kind": "ofdm", "fading": {"kind": "cir", "file": "cir.npz"}},
    }
    cells = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        recording(folder)
        (folder / "mine.toml").write_text(tomli_w.dumps(content))
        cells += load_scenario(folder / "mine.toml").cells
    assert cells[0].link.fading.file == str(tmp_path / "one" / "cir.npz")
    assert len(cells[0].link.fading.sha256) == 64
    assert cells[0].settings() != cells[1].settings()
    assert cells[0].digest() == cells[1].digest()
    (tmp_path / "mine.toml").write_text(tomli_w.dumps(content))
    with pytest.raises(ScenarioError, match="link.fading.file must be an existing file, got"):
        load_scenario(tmp_path / "mine.toml")


def test_a_study_over_a_recording(tmp_path, data_file):
    from scenarios import load_scenario, open_study, run_study
    from tests.scenarios import small

    table = {"kind": "ofdm", "fading": {"kind": "cir", "file": str(recording(tmp_path))}}
    content = small.content(data_file, rounds=3, algorithm={"name": "cotaf"}, link=table)
    content["sweep"] = {"link.fading.snapshots": ["time", "drawn"]}
    study = open_study(run_study(load_scenario(content), tmp_path / "study", progress=False))
    assert float(study["finished"].sum()) == 2
    first, second = study["nmse"].values
    assert (first != second).any()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("sionna-tdl", {"model": "C300"}),
        ("sionna-cdl", {"model": "D", "delay_spread": 50e-9, "max_speed": 3.0}),
        ("sionna-umi", {"los": True, "max_distance": 50.0, "o2i_model": "high"}),
        ("sionna-uma", {"indoor_probability": 0.0}),
        ("sionna-rma", {"min_distance": 100.0}),
    ],
)
def test_sionna_s_models_have_their_options(kind, options):
    fading = one(link={"kind": "ofdm", "fading": {"kind": kind, **options}}).link.fading.build()
    assert {name: getattr(fading, name) for name in options} == options
