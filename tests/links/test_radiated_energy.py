"""Radiated energy means one thing on all links: data, prefix and pilots in the grid."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, WaveformLink
from phy import NoFading, OfdmGrid, PilotCsi, Tdl
from tests.links.fixed import FixedFading
from tests.tolerance import check_mean


def test_links_without_a_grid_radiate_what_they_spend(rng):
    signals = rng.standard_normal((3, 100))
    for link in (GaussianLink(), FadingLink(truncation=0.1), FadingLink(csi=PilotCsi())):
        received = link.open(3, 100, rng).send(signals, 1e-3, enforce=False)
        radiated = received.diagnostics["radiated_energy"]
        np.testing.assert_allclose(radiated, received.energy.sum(axis=1))
    report = IdealLink().open(3, 100, rng).send(signals, 1.0).diagnostics
    np.testing.assert_array_equal(report["radiated_energy"], np.zeros(3))


@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_an_ofdm_link_in_numbers(engine, rng):
    """Two symbols of 10 carriers and 2 pilots; a prefix of a quarter; |h|^2 = 1/4."""
    grid = OfdmGrid(fft_size=16, cp_length=4, guards=(2, 1), dc_null=True, pilots=2)
    link = OfdmLink(grid=grid, fading=FixedFading([[0.5]]), power=3.0, engine=engine)
    received = link.open(1, 40, rng).send(np.ones((1, 40)), 0.05)
    # data: 40 * 0.05^2 / 0.25 = 0.4; pilots: 3 * 2 / 10 = 0.6; and the prefix, 5/4
    np.testing.assert_allclose(received.energy.sum(axis=1), [0.4], rtol=1e-5)
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], [1.25], rtol=1e-5)


def test_pilots_for_csi_are_not_counted(rng):
    for link in (OfdmLink, WaveformLink):
        seed = int(rng.integers(2**32))
        energies = [
            link(fading=NoFading(), csi=PilotCsi(snr_db=np.inf, num_pilots=count))
            .open(2, 900, np.random.default_rng(seed))
            .send(np.ones((2, 900)), 1e-3)
            .diagnostics["radiated_energy"]
            for count in (1, 5)
        ]
        np.testing.assert_allclose(*energies, rtol=1e-4)


@pytest.mark.parametrize("pilots", [0, 8])
@pytest.mark.parametrize("fading", [NoFading(), Tdl("A")], ids=["no fading", "Tdl"])
def test_ofdm_and_waveform_links_agree_on_average(pilots, fading, rng):
    """The prefix repeats samples, which have the mean power only on average."""
    grid = OfdmGrid(pilots=pilots)
    clients, length = 60, 1500
    options = {"grid": grid, "fading": fading, "power": 2.0, "truncation": 0.3}
    signals = rng.standard_normal((clients, length)).astype(np.float32)
    seed = int(rng.integers(2**32))
    ofdm, waveform = (
        link(**options)
        .open(clients, length, np.random.default_rng(seed))
        .send(signals, 0.02, enforce=False)
        for link in (OfdmLink, WaveformLink)
    )
    by_formula = (ofdm.energy.sum(axis=1) + 2.0 * pilots / (400 - pilots)) * 1.125
    np.testing.assert_allclose(ofdm.diagnostics["radiated_energy"], by_formula, rtol=1e-6)
    expected = (waveform.energy.sum(axis=1) + 2.0 * pilots / (400 - pilots)) * 1.125
    radiated = waveform.diagnostics["radiated_energy"]
    # a client whose channel is weak on every carrier is truncated everywhere
    heard = (expected > 0) & (by_formula > 0)
    assert heard.sum() >= 45
    np.testing.assert_array_equal(radiated[expected == 0], 0)
    check_mean(radiated[heard] / expected[heard], 1.0)
    # the same draw, up to the ripple of the pulses
    ratio = radiated[heard] / ofdm.diagnostics["radiated_energy"][heard]
    assert ratio.mean() == pytest.approx(1, abs=5 * ratio.std() / np.sqrt(heard.sum()) + 0.01)
    assert ratio.std() > 1e-3  # they are not the same formula


def test_a_client_that_says_nothing_radiates_its_pilots(rng):
    """They tell the server the phase, whatever the update."""
    grid = OfdmGrid(pilots=8)
    for link in (OfdmLink, WaveformLink):
        uplink = link(grid=grid, fading=NoFading(), power=2.0).open(2, 3000, rng)
        signals = np.zeros((2, 3000))
        signals[0] = rng.standard_normal(3000)
        radiated = uplink.send(signals, 1e-3).diagnostics["radiated_energy"]
        assert radiated[1] == pytest.approx(2.0 * 8 / 392 * 1.125, rel=0.02)
