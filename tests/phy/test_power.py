"""Inversion by hand, and the optimal control against a search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from phy.fading import Law
from phy.power import active_probability, invert, largest_arrival, mmse, mmse_scale
from phy.randomness import complex_normal


def channel(response, estimate=None):
    """Response and estimate of clients on one carrier; the same array if it is known perfectly."""
    h = np.asarray(response, np.complex64)[:, None, None]
    return h, h if estimate is None else np.asarray(estimate, np.complex64)[:, None, None]


def test_inversion_by_hand():
    precoding = invert(*channel([2.0, 0.5j, 0.1]), np.array([1.0, 4.0, 1.0]), truncation=0.05)
    np.testing.assert_allclose(precoding.cost.ravel(), [1 / 4, 1 / (4 * 0.25), 0])
    np.testing.assert_array_equal(precoding.arrival.ravel(), [1, 1, 0])
    np.testing.assert_array_equal(precoding.active_fraction, [1, 1, 0])


def test_inversion_of_a_wrong_estimate_leaves_their_ratio():
    wrong = channel([2.0, 1j], estimate=[1.0, 2.0])
    precoding = invert(*wrong, np.ones(2), truncation=0.0)
    np.testing.assert_allclose(precoding.arrival.ravel(), [2, 0.5j])
    np.testing.assert_allclose(precoding.cost.ravel(), [1, 1 / 4])


def test_the_largest_arrival_is_known_under_inversion_with_perfect_csi():
    def of(estimated, weights=None):
        arrival = invert(*estimated, np.ones(2), truncation=0.05).arrival
        return largest_arrival(arrival, weights)

    assert of(channel([2.0, 0.1])) == 1
    assert of(channel([0.2, 0.1])) == 0
    assert of(channel([2.0, 0.1]), np.array([0.0, 1.0])) == 0  # whoever could be heard is late
    assert np.isnan(of(channel([2.0, 1.0], estimate=[2.0, 1.0])))
    controlled = mmse(*channel([2.0, 1.0]), np.ones(2), np.ones(2), 0.1)
    assert np.isnan(largest_arrival(controlled.arrival, None))


def test_truncation_leaves_path_gain_out():
    for path_gain in (0.1, 1.0, 10.0):
        active = invert(*channel([0.2**0.5]), np.array([path_gain]), truncation=0.19).active
        assert active.all()
        active = invert(*channel([0.2**0.5]), np.array([path_gain]), truncation=0.21).active
        assert not active.any()


def test_truncation_acts_on_the_estimate():
    wrong = channel([1.0, 0.1], estimate=[0.1, 1.0])
    active = invert(*wrong, np.ones(2), truncation=0.05).active
    np.testing.assert_array_equal(active.ravel(), [False, True])


@pytest.mark.parametrize("truncation", [0.0, 0.1])
def test_a_dead_channel_is_silent_and_divides_by_nothing(truncation):
    for build in (
        lambda: invert(*channel([0.0, 1.0]), np.ones(2), truncation),
        lambda: mmse(*channel([0.0, 1.0]), np.ones(2), np.ones(2), 0.1),
        lambda: mmse(*channel([0.0, 0.0]), np.ones(2), np.ones(2), 0.0),
    ):
        with np.errstate(all="raise"):
            precoding = build()
        assert precoding.cost.ravel()[0] == 0
        assert precoding.arrival.ravel()[0] == 0
        assert np.isfinite(precoding.cost).all()
        assert (precoding.scale > 0).all()


def sum_mse(reach, eta, noise):
    return np.square(np.minimum(reach / np.sqrt(eta), 1) - 1).sum(axis=0) + noise / eta


def test_optimal_control_is_never_worse_than_a_search(rng):
    for _ in range(200):
        clients = int(rng.integers(1, 12))
        reach = np.abs(complex_normal(rng, (clients,))) * rng.uniform(0.2, 3, clients)
        noise = float(rng.exponential(1.0))
        best = float(sum_mse(reach, mmse_scale(reach, noise), noise))
        grid = np.geomspace(1e-3, 1e3, 4000)
        assert best <= sum_mse(reach[:, None], grid, noise).min() * (1 + 1e-9)
        found = minimize_scalar(
            lambda x, q=reach, n=noise: sum_mse(q, np.exp(x), n), bounds=(-8, 8), method="bounded"
        )
        assert best <= found.fun * (1 + 1e-9)


def test_optimal_control_by_hand():
    # one client: eta = (N0 + q^2)^2 / q^2 is above q^2, so it sends with full power
    precoding = mmse(*channel([0.5]), np.ones(1), element_power=np.array([4.0]), noise=1.0)
    np.testing.assert_allclose(precoding.scale.ravel(), [2.0])
    np.testing.assert_allclose(precoding.cost.ravel(), [4.0])
    np.testing.assert_allclose(precoding.arrival.ravel(), [0.5])
    # no noise: inversion, limited by the weakest
    precoding = mmse(*channel([0.5, 1j]), np.ones(2), np.ones(2), noise=0.0)
    np.testing.assert_allclose(precoding.arrival.ravel(), [1, 1])
    np.testing.assert_allclose(precoding.cost.ravel(), [1, 0.25])


def variance_mse(reach, eta, noise, variances):
    missing = np.square(np.minimum(reach / np.sqrt(eta), 1) - 1)
    return (variances.reshape(-1, *[1] * (missing.ndim - 1)) * missing).sum(axis=0) + noise / eta


def test_optimal_control_of_unequal_variances_is_never_worse_than_a_search(rng):
    for _ in range(300):
        clients = int(rng.integers(1, 12))
        variances = 10.0 ** rng.uniform(-4, 0, clients)
        strength = np.abs(complex_normal(rng, (clients,))) * rng.uniform(0.2, 3, clients)
        reach, noise = strength / np.sqrt(variances), float(rng.exponential(1.0))
        eta = mmse_scale(reach, noise, variances)
        best = float(variance_mse(reach, eta, noise, variances))
        grid = np.geomspace(1e-4, 1e6, 4000)
        searched = variance_mse(reach[:, None], grid, noise, variances)
        assert best <= searched.min() * (1 + 1e-9)


def test_knowing_the_variances_is_never_worse_than_taking_them_for_equal(rng):
    """With relative variances of at most 1, whatever the channels: both rules send within P."""
    strictly = 0
    for _ in range(300):
        clients = int(rng.integers(1, 12))
        variances = 10.0 ** rng.uniform(-3, 0, clients)
        variances /= variances.max()
        reach = np.abs(complex_normal(rng, (clients,))) * rng.uniform(0.2, 3, clients)
        noise = float(rng.exponential(1.0))
        unequal = reach / np.sqrt(variances)
        known = variance_mse(unequal, mmse_scale(unequal, noise, variances), noise, variances)
        taken = variance_mse(reach, mmse_scale(reach, noise), noise, variances)
        assert known <= taken * (1 + 1e-9)
        strictly += known < 0.99 * taken
    assert strictly > 50


def test_optimal_control_of_unequal_variances_by_hand():
    """q = (1, 2): eta_1 = 1.5^2 = 2.25 and eta_2 = (2.5 / 1.5)^2 = 2.78; 1 and 4 is allowed."""
    one, unequal = np.ones(2), np.array([1.0, 0.25])
    precoding = mmse(*channel([1.0, 1j]), one, one, noise=0.5, variances=unequal)
    np.testing.assert_allclose(precoding.scale.ravel(), [1.5])
    np.testing.assert_allclose(precoding.cost.ravel(), [1, 2.25])
    np.testing.assert_allclose(precoding.arrival.ravel(), [2 / 3, 1], rtol=1e-6)
    # taken for equal: q = (1, 1), eta = min(2.25, 1.25^2), both with full power
    precoding = mmse(*channel([1.0, 1j]), one, one, noise=0.5)
    np.testing.assert_allclose(precoding.scale.ravel(), [1.25])
    np.testing.assert_allclose(precoding.arrival.ravel(), [0.8, 0.8], rtol=1e-6)


def test_clients_with_nothing_to_send_play_no_part(rng):
    h = complex_normal(rng, (4,))
    gains, powers = rng.uniform(0.1, 2, 4), rng.uniform(0.1, 2, 4)
    present = np.array([True, False, True, False])
    variances = np.where(present, [1.0, 0.0, 0.3, 0.0], 0.0)
    with np.errstate(all="raise"):
        every = mmse(*channel(h), gains, powers, 0.3, variances)
    few = mmse(*channel(h[present]), gains[present], powers[present], 0.3, variances[present])
    np.testing.assert_array_equal(every.scale, few.scale)
    np.testing.assert_array_equal(every.cost[present], few.cost)
    np.testing.assert_array_equal(every.cost[~present], 0)
    np.testing.assert_array_equal(every.arrival[~present], 0)
    np.testing.assert_array_equal(every.active, True)
    nobody = mmse(*channel(h), gains, powers, 0.3, np.zeros(4))
    np.testing.assert_array_equal(nobody.scale, 1)


def test_variances_of_one_are_the_default_bit_by_bit(rng):
    h = complex_normal(rng, (6, 2, 5))
    gains, powers = rng.uniform(0.1, 2, 6), rng.uniform(0.1, 2, 6)
    known, default = (mmse(h, h, gains, powers, 0.3, v) for v in (np.ones(6), None))
    for one, other in zip(known, default, strict=True):
        np.testing.assert_array_equal(one, other)


def test_unequal_variances_never_exceed_the_power_of_an_element(rng):
    h = complex_normal(rng, (6, 2, 50))
    gains, powers = rng.uniform(0.1, 2, 6), rng.uniform(0.1, 2, 6)
    variances = 10.0 ** rng.uniform(-3, 0, 6)
    spent = variances[:, None, None] * mmse(h, h, gains, powers, 0.3, variances).cost
    assert (spent <= powers[:, None, None] * (1 + 1e-6)).all()
    assert (spent > 0.99 * powers[:, None, None]).any()


def test_optimal_control_knows_path_gain_and_never_exceeds_its_power(rng):
    h = complex_normal(rng, (6,))
    gains, powers = rng.uniform(0.1, 2, 6), rng.uniform(0.1, 2, 6)
    apart = mmse(*channel(h), gains, powers, noise=0.3)
    merged = mmse(*channel(h * np.sqrt(gains)), np.ones(6), powers, noise=0.3)
    np.testing.assert_allclose(apart.cost, merged.cost, rtol=1e-5)
    np.testing.assert_allclose(apart.arrival, merged.arrival, rtol=1e-5)
    assert (apart.cost.ravel() <= powers * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("truncation", "law", "error", "expected"),
    [
        (0.5, Law(0.0), 0.0, np.exp(-0.5)),
        (0.5, Law(0.0), 1.0, np.exp(-0.25)),
        (0.5, Law(1.0), 0.0, 1.0),
        (1.5, Law(1.0), 0.0, 0.0),
        (0.0, Law(0.7), 0.1, 1.0),
    ],
)
def test_probability_of_being_active(truncation, law, error, expected):
    assert float(active_probability(truncation, law, error)) == pytest.approx(expected)


def test_amplitude_has_the_cost_as_power_and_undoes_the_phase_of_the_estimate():
    response, estimate = channel([2.0, 1j, 0.1], estimate=[2j, -0.5, 0.1])
    precoding = invert(response, estimate, np.array([1.0, 4.0, 1.0]), truncation=0.05)
    sent = precoding.amplitude(estimate).ravel()
    # 1 / (sqrt(path_gain) h^), and silence where the estimate is weak
    np.testing.assert_allclose(sent, [1 / 2j, 1 / (2 * -0.5), 0], rtol=1e-6)
    arrived = np.sqrt([1.0, 4.0, 1.0]) * response.ravel() * sent
    np.testing.assert_allclose(precoding.arrival.ravel(), arrived, rtol=1e-6)


def test_known_perfectly_arrival_is_whether_a_client_sends():
    response, estimate = channel([2.0, 0.1])
    assert estimate is response
    precoding = invert(response, estimate, np.ones(2), truncation=0.05)
    assert precoding.arrival.dtype == bool
    np.testing.assert_array_equal(precoding.arrival.ravel(), [True, False])


def test_a_wrong_estimate_under_optimal_control_leaves_its_phase_error():
    response, estimate = channel([1.0, 1.0], estimate=[1j, 0.5])
    precoding = mmse(response, estimate, np.ones(2), np.ones(2), noise=0.0)
    # eta = 1/4, limited by the second; p = 1/4 and 1; arrival sqrt(p / eta) h e^{-j arg h^}
    np.testing.assert_allclose(precoding.scale.ravel(), [0.5])
    np.testing.assert_allclose(precoding.cost.ravel(), [0.25, 1])
    np.testing.assert_allclose(precoding.arrival.ravel(), [-1j, 2], atol=1e-6)


def test_probability_of_a_rician_channel_is_marcums_q():
    """Against the integral of Rice's density, written out."""
    from scipy.integrate import quad
    from scipy.special import i0e

    specular, truncation, error = 0.8, 0.3, 0.05
    variance = 1 - specular + error

    def density(power):
        root = 2 * np.sqrt(specular * power) / variance
        return i0e(root) * np.exp(root - (power + specular) / variance) / variance

    expected = quad(density, truncation, 20)[0]
    assert float(active_probability(truncation, Law(specular), error)) == pytest.approx(expected)
