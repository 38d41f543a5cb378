"""What persists over a run is a function of (device_rng, client, time), through every link."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import j0

from links import FadingLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, OfdmGrid, PilotCsi, Rayleigh, Tdl
from tests.tolerance import check_mean


def strengths(link, seed, time, clients, device=7):
    """What shows a slot's channels from outside: energies, or rates."""
    slot = link.open(
        len(clients),
        10,
        np.random.default_rng(seed),
        clients=clients,
        time=time,
        device_rng=np.random.default_rng(device),
    )
    if isinstance(link, OrthogonalLink):
        return slot.efficiency[0]
    return slot.energy(np.ones((len(clients), 10)))[:, 0]


@pytest.mark.parametrize(
    "link",
    [
        FadingLink(fading=Rayleigh(speed=2.0)),
        OfdmLink(fading=Tdl("A", speed=2.0), truncation=0.0),
        WaveformLink(fading=Tdl("A", speed=2.0), truncation=0.0),
        OrthogonalLink(fading=Tdl("A", speed=2.0)),
    ],
    ids=lambda link: type(link).__name__,
)
def test_moving_channels_persist_over_rounds(link):
    everyone = strengths(link, seed=1, time=3.0, clients=[0, 1, 2, 3])
    again = strengths(link, seed=2, time=3.0, clients=[3, 1])
    np.testing.assert_allclose(again, everyone[[3, 1]], rtol=1e-4)
    soon = strengths(link, seed=3, time=3.0 + 1e-5, clients=[0, 1, 2, 3])
    np.testing.assert_allclose(soon, everyone, rtol=0.2)
    assert (np.abs(soon / everyone - 1) > 1e-7).any()
    others = strengths(link, seed=1, time=3.0, clients=[0, 1, 2, 3], device=8)
    assert (np.abs(others / everyone - 1) > 0.01).all()


def test_channels_are_those_of_the_middle_of_each_slot():
    fading, csi = Rayleigh(speed=30.0), AgedCsi(1e-4, of=PilotCsi(snr_db=np.inf, num_pilots=2))
    grid = OfdmGrid()
    link = OfdmLink(fading=fading, csi=csi, grid=grid)
    device = np.random.default_rng(7)
    [channel] = link.open(
        2, 3 * 14 * 800, np.random.default_rng(1), time=5.0, device_rng=device
    ).channels
    period = 16 * grid.symbol_duration  # 14 symbols and 2 pilots
    instants = 5.0 + period * np.array([0.5, 1.5, 2.5])
    now, seen = (
        fading.draw(np.arange(2), when, np.random.default_rng(2), device).gains[..., 0]
        for when in (instants, instants - 1e-4)
    )
    np.testing.assert_allclose(channel.response[:, :, 0], now, atol=1e-5)
    np.testing.assert_allclose(channel.estimate[:, :, 0], seen, atol=1e-5)


def test_flat_and_ofdm_links_look_at_the_same_instant():
    fading = Rayleigh(speed=30.0)
    flat, ofdm = (
        link.open(
            3, 10, np.random.default_rng(1), time=2.0, device_rng=np.random.default_rng(7)
        ).channels[0]
        for link in (FadingLink(fading=fading), OfdmLink(fading=fading))
    )
    np.testing.assert_allclose(flat.response[:, 0, 0], ofdm.response[:, 0, 0], atol=1e-5)


def test_rounds_are_correlated_by_the_jakes_law(rng):
    fading, period, clients = Rayleigh(speed=1.0), 0.02, 3000
    link = FadingLink(fading=fading)
    device = int(rng.integers(2**32))
    first, second = (
        link.open(clients, 2, rng, time=number * period, device_rng=np.random.default_rng(device))
        .channels[0]
        .response[:, 0, 0]
        for number in (4, 5)
    )
    check_mean((second * first.conj()).real, float(j0(2 * np.pi * fading.doppler * period)))
