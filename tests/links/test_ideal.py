"""The exact sum, which costs nothing."""

from __future__ import annotations

import numpy as np

from links import IdealLink


def test_the_sum_is_exact_and_free(rng):
    signals = rng.standard_normal((4, 33))
    uplink = IdealLink().open(4, 33, rng)
    state = rng.bit_generator.state
    assert np.isinf(uplink.budget).all()
    assert uplink.max_gain(signals) == np.inf
    assert not uplink.load(signals).any()
    received = uplink.send(signals, 1.0)
    np.testing.assert_allclose(received.total, signals.sum(axis=0), rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(received.energy, np.zeros((4, 1)))
    report = received.diagnostics
    assert (report["nmse"], report["airtime"], report["pilot_airtime"]) == (0, 0, 0)
    assert report["snr_db"] == report["entry_snr_db"] == np.inf
    np.testing.assert_array_equal(report["active_fraction"], np.ones(4))
    np.testing.assert_array_equal(report["silent"], np.zeros(4, bool))
    np.testing.assert_array_equal(report["radiated_energy"], np.zeros(4))
    assert rng.bit_generator.state == state  # nothing is drawn


def test_no_gain_changes_it(rng):
    signals = rng.standard_normal((4, 33))
    uplink = IdealLink().open(4, 33, rng)
    for gain in (1e-12, 1.0, 1e12, np.inf):
        np.testing.assert_array_equal(
            uplink.send(signals, gain).total, uplink.send(signals, 1.0).total
        )
