"""What persists over a run is a function of (device_rng, client, time), through every link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import j0

from links import FadingLink, GaussianLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, OfdmGrid, PilotCsi, Rayleigh, Tdl
from phy.impairments import PhaseNoise
from tests.tolerance import check_mean


def strengths(link, seed, time, clients, device=7):
    """What shows an uplink's channels from outside: energies, or rates."""
    uplink = link.open(
        len(clients),
        10,
        np.random.default_rng(seed),
        clients=clients,
        time=time,
        device_rng=np.random.default_rng(device),
    )
    if isinstance(link, OrthogonalLink):
        return uplink.medium.efficiency
    return uplink.energy(np.ones((len(clients), 10)))[:, 0]


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
    channel = link.open(
        2, 3 * 14 * 800, np.random.default_rng(1), time=5.0, device_rng=device
    ).medium.channel
    period = 16 * grid.symbol_duration  # 14 symbols and 2 pilots
    data = (2 + 7) * grid.symbol_duration  # the middle of 14 symbols of data behind 2 of pilots
    instants = 5.0 + data + period * np.arange(3)
    now, seen = (
        fading.draw(np.arange(2), when, np.random.default_rng(2), device).gains[..., 0]
        for when in (instants, instants - 1e-4)
    )
    np.testing.assert_allclose(channel.response[:, :, 0], now, atol=1e-5)
    np.testing.assert_allclose(channel.estimate[:, :, 0], seen, atol=1e-5)


def test_rounds_are_correlated_by_the_jakes_law(rng):
    fading, period, clients = Rayleigh(speed=1.0), 0.02, 3000
    link = FadingLink(fading=fading)
    device = int(rng.integers(2**32))
    first, second = (
        link.open(
            clients, 2, rng, time=number * period, device_rng=np.random.default_rng(device)
        ).medium.channel.response[:, 0, 0]
        for number in (4, 5)
    )
    check_mean((second * first.conj()).real, float(j0(2 * np.pi * fading.doppler * period)))


EVERY = [
    GaussianLink(),
    FadingLink(),
    OfdmLink(),
    OfdmLink(control="mmse", csi=PilotCsi()),
    OfdmLink(fading=Tdl("A", speed=3.0)),
    WaveformLink(),
    WaveformLink(fading=Tdl("A", speed=3.0), transmit=(PhaseNoise(100.0),)),
    OrthogonalLink(),
]
NAMES = [f"{number} {type(link).__name__}" for number, link in enumerate(EVERY)]


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_the_same_seed_is_the_same_round(link):
    signals = np.random.default_rng(0).standard_normal((3, 200)).astype(np.float32)
    one, other = (link.open(3, 200, np.random.default_rng(4)).send(signals, 1e-3) for _ in "ab")
    np.testing.assert_array_equal(one.total, other.total)
    for name, value in one.diagnostics.items():
        np.testing.assert_array_equal(value, other.diagnostics[name], err_msg=name)


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_sending_again_meets_the_same_channel_and_new_noise(link, rng):
    signals = np.random.default_rng(0).standard_normal((3, 200)).astype(np.float32)
    uplink = link.open(3, 200, rng)
    energy = uplink.energy(signals)
    first, second = (uplink.send(signals, 1e-3, enforce=False) for _ in "ab")
    assert (first.total != second.total).any()
    np.testing.assert_array_equal(first.energy, second.energy)
    np.testing.assert_array_equal(uplink.energy(signals), energy)
    for name in ("active_fraction", "silent"):
        np.testing.assert_array_equal(first.diagnostics[name], second.diagnostics[name])


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_asking_draws_nothing_and_changes_nothing(link):
    """Energy, load and the largest gain: what is sent afterwards is the same."""
    signals = np.random.default_rng(0).standard_normal((3, 200)).astype(np.float32)
    asked, silent = (link.open(3, 200, np.random.default_rng(4)) for _ in "ab")
    asked.energy(2 * signals), asked.load(signals), asked.max_gain(3 * signals)
    np.testing.assert_array_equal(asked.send(signals, 1e-3).total, silent.send(signals, 1e-3).total)


@pytest.mark.parametrize("link", EVERY, ids=NAMES)
def test_a_refused_send_leaves_the_generator_untouched(link, rng):
    signals = np.ones((3, 200))
    uplink = link.open(3, 200, rng)
    before = rng.bit_generator.state
    refusals = [
        lambda: uplink.send(signals[:2], 1e-3),
        lambda: uplink.send(signals * np.nan, 1e-3),
        lambda: uplink.send(signals, -1.0),
        lambda: uplink.send(signals, 1e-3, weights=[1.0]),
    ]
    if not isinstance(link, OrthogonalLink):
        refusals += [lambda: uplink.send(signals, 1e9), lambda: uplink.send(signals, np.inf)]
    for refused in refusals:
        with pytest.raises(ValueError, match="must"):
            refused()
        assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    "link", [EVERY[0], EVERY[1], EVERY[2], EVERY[4], EVERY[5]], ids=lambda link: type(link).__name__
)
def test_snrs_are_compared_on_the_same_channel_and_the_same_noise(link):
    """Runs that differ only in SNR are paired; noise scales by its standard deviation."""
    signals = np.random.default_rng(0).standard_normal((3, 200)).astype(np.float32)
    quiet, loud, louder = (
        replace(link, snr_db=snr)
        .open(3, 200, np.random.default_rng(4), device_rng=np.random.default_rng(5))
        .send(signals, 1e-3)
        for snr in (np.inf, 20.0, 0.0)
    )
    np.testing.assert_array_equal(quiet.energy, loud.energy)
    noise, more = loud.total - quiet.total, louder.total - quiet.total
    np.testing.assert_allclose(more, 10 * noise, atol=1e-3 * np.abs(more).max())


def test_the_devices_generator_is_not_advanced(rng):
    device = np.random.default_rng(7)
    before = device.bit_generator.state
    for link in EVERY:
        link.open(3, 50, rng, device_rng=device, time=2.0).send(np.ones((3, 50)), 1e-3)
    assert device.bit_generator.state == before
