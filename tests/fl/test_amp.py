"""Approximate message passing and its state evolution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from fl.adsgd import sparsified
from fl.amp import amp, soft, soft_risk, state_evolution
from fl.projection import DctProjection, GaussianProjection


def sparse_vector(rng, size, nonzeros):
    """Return entries of +-1 in random places."""
    vector = np.zeros(size)
    vector[rng.permutation(size)[:nonzeros]] = rng.choice([-1.0, 1.0], nonzeros)
    return vector


def test_soft_by_hand():
    values = np.array([-5.0, -2.0, -1.0, 0.0, 1.9, 2.0, 2.5])
    np.testing.assert_array_equal(soft(values, 2.0), [-3, 0, 0, 0, 0, 0, 0.5])
    np.testing.assert_array_equal(soft(values, 0.0), values)
    assert soft(values.astype(np.float32), 2.0).dtype == np.float32


class Matrix:
    """A projection with a given matrix."""

    def __init__(self, matrix):
        self.matrix = np.array(matrix, float)
        self.rows, self.size = self.matrix.shape

    def forward(self, vectors):
        return vectors @ self.matrix.T

    def adjoint(self, vectors):
        return vectors @ self.matrix


def test_two_iterations_by_hand():
    """n = 2, d = 3, A = [[1, 0, 1], [0, 1, 0]], y = (4, 3) and lambda = sqrt(2) / 5.

    ||y|| = 5, so theta = 1: soft((4, 3, 4), 1) = (3, 2, 3), of three entries that are not zero.
    z = (4 - 6, 3 - 2) + 3/2 (4, 3) = (4, 5.5); ||z|| = sqrt(46.25), theta = sqrt(46.25) / 5.
    """
    A = Matrix([[1, 0, 1], [0, 1, 0]])  # noqa: N806
    y, threshold = np.array([4.0, 3.0]), np.sqrt(2) / 5
    once = amp(y, A, threshold=threshold, iterations=1)
    np.testing.assert_allclose(once, [3, 2, 3], rtol=1e-12)
    twice = amp(y, A, threshold=threshold, iterations=2)
    expected = np.array([3 + 4, 2 + 5.5, 3 + 4]) - np.sqrt(46.25) / 5
    np.testing.assert_allclose(twice, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [GaussianProjection, DctProjection])
def test_exact_without_noise(kind, rng):
    """n/d = 1/2 and 60 of 1000 entries: 0.12 of n, far below the phase transition at 0.38 of n."""
    x = sparse_vector(rng, 1000, 60)
    A = kind(500, 1000, seed=int(rng.integers(2**62)))  # noqa: N806
    estimate = amp(A.forward(x), A, threshold=1.4, iterations=100)
    assert np.abs(estimate - x).max() < 1e-6


def test_not_above_the_phase_transition(rng):
    """300 of 1000 entries from n = 500, 0.6 of n: no threshold recovers them."""
    x = sparse_vector(rng, 1000, 300)
    A = GaussianProjection(500, 1000, seed=int(rng.integers(2**62)))  # noqa: N806
    for threshold in (1.0, 1.4, 2.0):
        error = amp(A.forward(x), A, threshold=threshold, iterations=100) - x
        assert np.mean(error**2) > 0.02


def test_nothing_in_nothing_out():
    A = DctProjection(5, 10)  # noqa: N806
    np.testing.assert_array_equal(amp(np.zeros(5, np.float32), A), np.zeros(10))
    assert amp(np.ones(5, np.float32), A).dtype == np.float32


@pytest.mark.parametrize("value", [0.0, 0.3, -2.0, 50.0])
@pytest.mark.parametrize("noise", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("threshold", [0.5, 1.4])
def test_risk_by_quadrature(value, noise, threshold):
    def integrand(z):
        error = soft(np.array(value + noise * z), threshold * noise) - value
        return error**2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

    kinks = [(-value + sign * threshold * noise) / noise for sign in (-1, 1)]
    inside = [kink for kink in kinks if abs(kink) < 12]
    expected = quad(integrand, -12, 12, points=inside or None, epsabs=1e-13, limit=200)[0]
    np.testing.assert_allclose(soft_risk(np.array([value]), noise, threshold), expected, rtol=1e-8)


def test_risk_of_extremes():
    """Of zero it is 2 [(1 + l^2) Phi(-l) - l phi(l)] tau^2, of large values (1 + l^2) tau^2."""
    # l = 1: Phi(-1) = 0.158655, phi(1) = 0.241971
    np.testing.assert_allclose(soft_risk(np.array([0.0]), 2.0, 1.0), [4 * 0.1506796], rtol=1e-5)
    large = soft_risk(np.array([1e3, -1e6, 1e12]), 0.5, 2.0)
    np.testing.assert_allclose(large, [1.25, 1.25, 1.25], rtol=1e-9)
    np.testing.assert_array_equal(soft_risk(np.array([0.0, 1.0]), 0.0, 1.0), [0, 0])


def test_state_evolution_by_monte_carlo(rng):
    """Three iterations for X in {0, 0, 0, 2}, ratio 1/2, s^2 = 0.04, lambda = 1.2."""
    x = np.array([0.0, 0.0, 0.0, 2.0])
    predicted = state_evolution(x, 0.5, 0.04, threshold=1.2, iterations=3)
    assert predicted.shape == (4,)
    np.testing.assert_allclose(predicted[0], 0.04 + 1.0 / 0.5, rtol=1e-12)
    many = np.repeat(x, 100_000)
    for before, after in pairwise(predicted):
        seen = many + np.sqrt(before) * rng.standard_normal(many.size)
        errors = (soft(seen, 1.2 * np.sqrt(before)) - many) ** 2
        by_value = errors.reshape(4, -1)
        deviation = np.sqrt(by_value.var(axis=1).sum() / 16 / 100_000)
        assert abs(0.04 + errors.mean() / 0.5 - after) < 5 * deviation / 0.5


def test_state_evolution_of_complete_measurements():
    """n = d, no noise: the error vanishes, for dense vectors too if lambda is small."""
    dense = np.array([1.0, -2.0, 0.5, 3.0])
    assert state_evolution(dense, 1.0, 0.0, threshold=0.1, iterations=200)[-1] > 1e-3  # bias
    sparse = np.array([0.0] * 9 + [1.0])
    assert state_evolution(sparse, 1.0, 0.0, threshold=1.2, iterations=200)[-1] < 1e-12


@pytest.mark.parametrize(("ratio", "least"), [(0.5, 0.41), (0.25, 0.76), (0.1, 1.18)])
def test_smallest_threshold(ratio, least):
    """Noise alone, of variance 1, grows without end below the smallest threshold, not above."""
    options = {"noise_variance": 1.0, "iterations": 2000}
    assert state_evolution([0.0], ratio, threshold=least - 0.03, **options)[-1] > 1e6
    assert state_evolution([0.0], ratio, threshold=least + 0.03, **options)[-1] < 100


def mean_error(rng, size, rows, per_client, projections):
    """Return AMP's mean squared error over the prediction, and the standard error of that."""
    updates = rng.standard_normal((4, size)) + 2 * rng.standard_normal(size)
    total = 0.25 * sparsified(updates, per_client)[0].sum(axis=0)
    total = (total / np.sqrt(np.mean(total**2))).astype(np.float32)
    predicted = state_evolution(total, rows / size, 1.0, threshold=1.5, iterations=12)
    fixed = state_evolution(total, rows / size, 1.0, threshold=1.5, iterations=100)[-1]
    np.testing.assert_allclose(predicted[-1], fixed, rtol=1e-3)
    expected = rows / size * (predicted[-1] - 1.0)
    ratios = []
    for _ in range(projections):
        A = GaussianProjection(rows, size, seed=int(rng.integers(2**62)))  # noqa: N806
        received = A.forward(total) + rng.standard_normal(rows, np.float32)
        estimate = amp(received, A, threshold=1.5, iterations=12)
        ratios.append(np.mean((estimate - total) ** 2) / expected)
    return np.mean(ratios), np.std(ratios) / np.sqrt(projections)


def test_mean_error_is_that_of_state_evolution(rng):
    """Within 5 % over 200 Gaussian projections of a sum of four sparse updates, at 0 dB."""
    ratio, deviation = mean_error(rng, 1000, 500, 40, 200)
    assert deviation < 0.01
    assert abs(ratio - 1) < 0.05


@pytest.mark.slow
def test_mean_error_in_larger_dimension(rng):
    """The spread falls with d: within 3 % at d = 4000, n = 1600."""
    ratio, deviation = mean_error(rng, 4000, 1600, 100, 200)
    assert deviation < 0.005
    assert abs(ratio - 1) < 0.03


def test_refused():
    A = DctProjection(5, 10)  # noqa: N806
    with pytest.raises(ValueError, match="threshold must be a finite number > 0, got 0"):
        amp(np.ones(5), A, threshold=0)
    with pytest.raises(ValueError, match="iterations must be a whole number >= 1, got 0"):
        amp(np.ones(5), A, iterations=0)
    with pytest.raises(ValueError, match="ratio must be a finite number > 0, got 0"):
        state_evolution([1.0], 0, 0.1)
    with pytest.raises(ValueError, match="noise_variance must be a finite number >= 0, got -1"):
        state_evolution([1.0], 0.5, -1)
