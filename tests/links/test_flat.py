"""A medium with the same gain for every entry: I and Q of one channel use, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from links.faded import Correction
from links.flat import FlatMedium, channel_uses
from links.radio import Noise
from tests.links.fixed import SIGNALS, unit_noise

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
