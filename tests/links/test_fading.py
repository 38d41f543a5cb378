"""One complex gain per client and round, by hand: the paper's extension."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink
from phy import PerfectCsi, PilotCsi
from tests.links.fixed import SIGNALS, DistortedCsi, FixedFading, unit_noise


def test_flat_fading_by_hand_is_the_papers_extension():
    """z = beta s / h, ||z||^2 <= P; an estimate off by a turn turns I into Q."""

    fading = FixedFading([[2.0], [0.5j]])
    uplink = FadingLink(fading=fading, snr_db=0.0, power=5.0).open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(uplink.energy(SIGNALS), [[30 / 4], [3000 / 0.25]])
    np.testing.assert_allclose(uplink.max_gain(SIGNALS), np.sqrt(5 / 12_000), rtol=1e-5)
    total = uplink.send(SIGNALS, gain=0.02).total
    np.testing.assert_allclose(total, SIGNALS.sum(axis=0) + unit_noise(5, 4) / 0.02, rtol=1e-5)

    for length in (4, 3):
        link = FadingLink(
            fading=fading, snr_db=np.inf, csi=DistortedCsi(lambda h: h * np.complex64(-1j))
        )
        uplink = link.open(2, length, np.random.default_rng(5))
        total = uplink.send(SIGNALS[:, :length], 1.0, enforce=False).total
        # (I + jQ) j = -Q + jI; an odd vector's last Q is empty
        expected = np.array([-22, 11, -44, 33])[:length]
        if length == 3:
            expected[2] = 0
        np.testing.assert_allclose(total, expected, atol=1e-5)


def test_the_channel_and_what_was_made_of_it_can_be_looked_at(rng):
    uplink = FadingLink(truncation=0.5).open(200, 10, rng)
    medium = uplink.medium
    strength = np.square(np.abs(medium.channel.response[:, 0, 0]))
    np.testing.assert_array_equal(medium.active, strength > 0.5)
    np.testing.assert_array_equal(medium.arrival, medium.active)
    np.testing.assert_allclose(medium.cost, np.where(medium.active, 1 / strength, 0), rtol=1e-5)
    assert 0 < medium.active.sum() < 200


def test_frequency_selective_fading_is_taken_at_its_centre(rng):
    """Where all paths add up as they are."""
    fading = FixedFading([[0.5, 0.25j]], delays=[0.0, 3e-7])
    uplink = FadingLink(fading=fading, snr_db=np.inf).open(1, 4, rng)
    np.testing.assert_allclose(uplink.medium.channel.response, [[[0.5 + 0.25j]]], rtol=1e-6)
    received = uplink.send(SIGNALS[:1], 0.01)
    np.testing.assert_allclose(received.total, SIGNALS[0], rtol=1e-6)
    np.testing.assert_allclose(received.energy, [[30e-4 / 0.3125]], rtol=1e-6)


@pytest.mark.parametrize("pilots", [0, 3])
def test_airtime_counts_pilots(pilots, rng):
    csi = PilotCsi(num_pilots=pilots) if pilots else PerfectCsi()
    uplink = FadingLink(bandwidth=1e3, csi=csi).open(2, 5, rng)
    report = uplink.send(np.ones((2, 5)), 1e-9).diagnostics
    assert report["airtime"] == pytest.approx((3 + pilots) / 1e3)
    assert report["pilot_airtime"] == pytest.approx(pilots / 1e3)
