"""A medium with the same gain for every entry: I and Q of one channel use, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink
from links.faded import Correction
from links.flat import FlatMedium, channel_uses
from links.radio import Noise
from phy.fading import Law
from tests.links.fixed import SIGNALS, FixedFading, unit_noise

QUIET = Noise(np.inf, np.inf, 0.0)


def medium(arrival, *, noise=QUIET, scale=1.0, active=(True, True), **options):
    return FlatMedium(
        cost=np.array([2.0, 0.5]),
        arrival=np.asarray(arrival),
        active=np.array(active),
        scale=scale,
        noise=noise,
        rng=np.random.default_rng(5),
        report={},
        **options,
    )


def test_real_factors_scale_and_complex_ones_turn():
    arrived, energy = medium(np.array([0.5, 1.0])).superpose(SIGNALS)
    np.testing.assert_allclose(arrived, 0.5 * SIGNALS[0] + SIGNALS[1])
    np.testing.assert_allclose(energy, [[2 * 30], [0.5 * 3000]])
    arrived, _ = medium(np.array([1j, 1.0])).superpose(SIGNALS)
    # j (1 + 2j) = -2 + j, j (3 + 4j) = -4 + 3j
    np.testing.assert_allclose(arrived, [10 - 2, 20 + 1, 30 - 4, 40 + 3])


def test_an_odd_vectors_last_entry_is_alone():
    arrived, _ = medium(np.array([1j, 1.0])).superpose(SIGNALS[:, :3])
    np.testing.assert_allclose(arrived, [10 - 2, 20 + 1, 30])
    arrived, _ = medium(np.array([1j, 1j])).superpose(SIGNALS[:, :1])
    np.testing.assert_allclose(arrived, [0])


def test_the_server_divides_noise_by_gain_and_scale():
    received = medium(np.ones(2), noise=Noise(0.0, 0.0, 1.0), scale=3.0).receive(
        SIGNALS.sum(axis=0), 0.2, np.array([[1.0], [2.0]]), None
    )
    expected = SIGNALS.sum(axis=0) + unit_noise(5, 4) / (0.2 * 3)
    np.testing.assert_allclose(received.total, expected, rtol=1e-6)
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], [1, 2])
    power = np.square(0.2 * 3 * SIGNALS.sum(axis=0)).sum() / 4
    assert received.diagnostics["received_snr_db"] == pytest.approx(10 * np.log10(power))


def test_those_who_are_not_heard_are_corrected_for():
    halved = medium(np.array([1.0, 0.0]), active=(True, False), correction=Correction("active"))
    spent = np.zeros((2, 1))
    total = halved.receive(np.ones(4), 1.0, spent, None).total
    np.testing.assert_allclose(total, 2)
    total = halved.receive(np.ones(4), 1.0, spent, np.array([0.25, 0.75])).total
    np.testing.assert_allclose(total, 4)
    np.testing.assert_array_equal(
        halved.receive(np.ones(4), 1.0, spent, None).diagnostics["silent"], [False, True]
    )


def test_airtime_counts_pairs_of_entries_and_pilots():
    assert channel_uses(5, 100.0) == {"airtime": 0.03, "pilot_airtime": 0}
    assert channel_uses(4, 100.0, pilots=3) == {"airtime": 0.05, "pilot_airtime": 0.03}


def test_noise_of_the_sum_by_hand():
    """sigma_c = 0.1 over a scale of 4, and times 2 where one of two clients is heard."""
    noise, spent = Noise(0.0, 0.0, 0.01), np.zeros((2, 1))
    for active, expected in (((True, True), 0.025), ((True, False), 0.05)):
        heard = medium(
            np.ones(2), noise=noise, scale=4.0, active=active, correction=Correction("active")
        )
        report = heard.receive(np.ones(4), 1.0, spent, None).diagnostics
        assert report["noise_std"] == pytest.approx(0.1)
        assert report["sum_noise_std"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({}, None),
        ({"truncation": 0.5, "correction": "active"}, None),
        ({"truncation": 0.5, "correction": "active"}, [0.2, 0.8]),
        ({"truncation": 0.5, "correction": "expected"}, None),
        ({"control": "mmse"}, None),
    ],
)
def test_noise_of_the_sum_is_what_is_measured(options, weights, rng):
    """Sent twice over the same channel, at gain 1/2: the sums differ by sqrt(2) s / gain.

    The relative error of a standard deviation of n values is 1 / sqrt(2 n).
    """
    size, fading = 40_000, FixedLaw([[1.0], [0.3]])
    uplink = FadingLink(snr_db=10.0, fading=fading, **options).open(2, size, rng)
    signals = 0.01 * rng.standard_normal((2, size))
    one, other = (uplink.send(signals, 0.5, weights=weights, enforce=False) for _ in "ab")
    measured = 0.5 * (one.total - other.total).std() / np.sqrt(2)
    std = one.diagnostics["sum_noise_std"]
    assert abs(measured / std - 1) < 5 / np.sqrt(2 * size)
    alike = not options  # otherwise the correction or the scale counts
    assert (std == pytest.approx(10**-0.5, rel=0.05)) == alike


class FixedLaw(FixedFading):
    """Given channels that are said to be Rayleigh."""

    law = Law(specular=0.0)
