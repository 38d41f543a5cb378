"""The paper's multiple-access channel, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, GaussianLink
from tests.links.fixed import SIGNALS, unit_noise


def test_a_round_by_hand():
    uplink = GaussianLink(snr_db=0.0, power=[30.0, 12_000.0]).open(2, 4, np.random.default_rng(5))
    np.testing.assert_allclose(uplink.energy(SIGNALS), [[30], [3000]])
    np.testing.assert_allclose(uplink.max_gain(SIGNALS), 1, rtol=1e-5)
    received = uplink.send(SIGNALS, 0.5)
    expected = SIGNALS.sum(axis=0) + unit_noise(5, 4) / 0.5
    np.testing.assert_allclose(received.total, expected, rtol=1e-6)
    np.testing.assert_allclose(received.energy, [[7.5], [750]])
    assert received.diagnostics["airtime"] == pytest.approx(2 / 12e6)
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], [7.5, 750])
    power = np.square(0.5 * SIGNALS.sum(axis=0)).sum() / 4
    assert received.diagnostics["received_snr_db"] == pytest.approx(10 * np.log10(power))


def test_max_gain_is_the_papers_beta():
    """beta_t = min_i sqrt(P_i) / ||alpha_i Delta_i / tau_i||."""
    link = GaussianLink(power=[1.0, 4.0], path_gain=[1.0, 0.25])
    uplink = link.open(2, 4, np.random.default_rng(5))
    norms = np.linalg.norm(SIGNALS, axis=1) / np.sqrt([1.0, 0.25])
    assert uplink.max_gain(SIGNALS) == pytest.approx(min([1, 2] / norms), rel=2e-6)


def test_an_odd_vector_takes_one_more_channel_use():
    for length, uses in ((1, 1), (2, 1), (3, 2), (7850, 3925)):
        uplink = GaussianLink(bandwidth=1e3).open(1, length, np.random.default_rng(5))
        report = uplink.send(np.ones((1, length)), 1e-6).diagnostics
        assert report["airtime"] == pytest.approx(uses / 1e3)
        assert report["pilot_airtime"] == 0


def test_bandwidth_is_positive():
    for link in (GaussianLink, FadingLink):
        with pytest.raises(ValueError, match=r"^bandwidth must be a finite number > 0, got 0\.0"):
            link(bandwidth=0.0)


def test_the_noise_it_reports_is_what_it_adds(rng):
    """sigma_c = 0.2 at a power of 4 and 20 dB, before the gain is removed."""
    size, gain = 20_000, 1e-3
    uplink = GaussianLink(snr_db=20.0, reference_power=4.0).open(2, size, rng)
    received = uplink.send(np.ones((2, size)), gain)
    assert received.diagnostics["sum_noise_std"] == pytest.approx(0.2, rel=1e-12)
    error = gain * (received.total - 2)
    assert abs(error.var() / 0.04 - 1) < 5 * np.sqrt(2 / size)


@pytest.mark.parametrize(("length", "sigma"), [(1, 0.1), (3, 0.1 / np.sqrt(3))])
def test_reported_noise_by_entry_snr(length, sigma, rng):
    """sigma_c^2 = 1 / (d 100) at 20 dB."""
    uplink = GaussianLink(entry_snr_db=20.0).open(1, length, rng)
    report = uplink.send(np.ones((1, length)), 0.1).diagnostics
    assert report["sum_noise_std"] == pytest.approx(sigma, rel=1e-12)
