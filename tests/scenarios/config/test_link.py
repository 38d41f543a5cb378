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
                "budget": "round",
                "engine": "sionna",
            },
            OfdmLink(
                grid=OfdmGrid(fft_size=256, guards=(10, 9)),
                fading=Tdl("C", speed=3.0),
                csi=AgedCsi(2e-3, of=PilotCsi(num_taps=8)),
                interleaver_seed=None,
                control="mmse",
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
