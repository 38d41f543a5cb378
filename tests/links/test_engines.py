"""The fused algebra and Sionna's own blocks are the same uplink, on every OfdmLink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import OfdmLink
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl

FADINGS = [
    NoFading(),
    Rayleigh(),
    Rician(k_factor=2.0),
    *(Tdl(model, delay_spread=200e-9) for model in "ABCDE"),
    Rayleigh(speed=50.0),
    Tdl("C", delay_spread=200e-9, speed=50.0),
    Tdl("D", delay_spread=100e-9, speed=5.0),
]
CSIS = [
    PerfectCsi(),
    NoisyCsi(0.05),
    PilotCsi(snr_db=10.0, num_pilots=2),
    AgedCsi(1e-3, of=NoisyCsi(0.01)),
]
GRIDS = [
    OfdmGrid(fft_size=64, cp_length=32, guards=(5, 4), dc_null=True),
    OfdmGrid(fft_size=32, cp_length=32, guards=(0, 0), dc_null=False, symbols_per_slot=3),
]


def check_same_round(link, rng, length=901, clients=3):
    """The same seed, so the same channels and noise, through both engines."""
    seed = int(rng.integers(2**32))
    signals = rng.standard_normal((clients, length)).astype(np.float32)
    signals *= np.geomspace(1, 0.1, clients, dtype=np.float32)[:, None]
    results = []
    for engine in ("fast", "sionna"):
        uplink = replace(link, engine=engine).open(
            clients, length, np.random.default_rng(seed), time=2.0
        )
        gain = uplink.max_gain(signals) * 0.99
        results.append((uplink.medium.superpose(signals)[0], gain, uplink.send(signals, gain)))
    (ours, our_gain, our_sent), (theirs, their_gain, their_sent) = results
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * scale)
    np.testing.assert_allclose(our_gain, their_gain, rtol=1e-5)
    np.testing.assert_allclose(our_sent.energy, their_sent.energy, rtol=1e-4, atol=1e-9)
    size = np.abs(their_sent.total).max()
    np.testing.assert_allclose(our_sent.total, their_sent.total, atol=2e-5 * size)


@pytest.mark.parametrize("fading", FADINGS, ids=str)
@pytest.mark.parametrize("grid", GRIDS, ids=["64", "32"])
def test_engines_agree_for_every_fading(fading, grid, rng):
    check_same_round(OfdmLink(grid=grid, fading=fading, path_gain=[1.0, 0.3, 7.0]), rng)


@pytest.mark.parametrize("csi", CSIS, ids=str)
@pytest.mark.parametrize("control", ["inversion", "mmse", "mmse, reported"])
@pytest.mark.parametrize("correction", ["none", "active"])
def test_engines_agree_for_every_csi_control_and_correction(csi, control, correction, rng):
    fading = Tdl("A", speed=20.0)
    link = OfdmLink(
        grid=GRIDS[1],
        fading=fading,
        csi=csi,
        control=control.split(",")[0],
        variances="reported" if "reported" in control else "equal",
        correction=correction,
        entry_snr_db=10.0,
    )
    check_same_round(link, rng)


def test_engines_agree_on_the_default_link(rng):
    check_same_round(OfdmLink(), rng, length=7850, clients=10)
