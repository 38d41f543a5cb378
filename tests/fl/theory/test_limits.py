"""Theorem 1 and Example 1, by hand and compared with runs."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Cotaf,
    FedAvg,
    FedNova,
    Sgd,
    quadratic_problem,
    train,
)
from fl.theory import (
    example1_limit,
    theorem1_floor,
    theorem1_recursion,
)
from links import GaussianLink, IdealLink
from tests.fl.problems import random_quadratics
from tests.tolerance import check_mean


def noise_free(problem, algorithm, rate, steps, rounds):
    return train(
        algorithm,
        IdealLink(),
        problem,
        sgd=Sgd(rate, None),
        steps=steps,
        rounds=rounds,
        test_every=rounds,
    ).model


@pytest.mark.parametrize("normalised", [False, True])
def test_example1(normalised, rng):
    """Unequal steps converge to x_hat, not to x*."""
    problem = random_quadratics(rng)
    steps, rate, alpha = np.array([1, 3, 8]), 0.05, np.full(3, 1 / 3)
    algorithm = FedNova() if normalised else Cotaf()
    limit = noise_free(problem, algorithm, rate, steps, 3000)
    weights = alpha / steps if normalised else alpha
    expected = example1_limit(problem.model.hessians, problem.linear, weights, steps, rate)
    np.testing.assert_allclose(limit, expected, atol=1e-8)
    assert np.linalg.norm(limit - problem.optimum(alpha)) > 1e-3


def test_example1_as_the_rate_falls(rng):
    """With alpha_i / tau_i the limit tends to x* in proportion to eta, with alpha_i it does not."""
    problem = random_quadratics(rng)
    steps, alpha = np.array([1, 3, 8]), np.full(3, 1 / 3)
    optimum = problem.optimum(alpha)

    def distance(weights, rate):
        h, e = problem.model.hessians, problem.linear
        return np.linalg.norm(example1_limit(h, e, weights, steps, rate) - optimum)

    normalised = [distance(alpha / steps, rate) for rate in (1e-4, 1e-5)]
    plain = [distance(alpha, rate) for rate in (1e-4, 1e-5)]
    assert normalised[0] / normalised[1] == pytest.approx(10, rel=0.05)
    assert plain[0] / plain[1] == pytest.approx(1, rel=0.05)
    assert plain[1] > 100 * normalised[1]


def test_example1_is_x_star_for_equal_clients(rng):
    problem = random_quadratics(rng, clients=1)
    limit = example1_limit(problem.model.hessians, problem.linear, [1.0], [5], 0.1)
    np.testing.assert_allclose(limit, problem.optimum([1.0]))


@pytest.mark.parametrize("noise_std", [0.0, 1.0])
def test_theorem1_floor(noise_std, rng):
    """FedAvg over the Gaussian MAC on L/2 ||x - c||^2 settles at d times the formula."""
    size, smoothness, rate, batch, snr_db = 40, 2.0, 0.2, 4, 5.0
    problem = quadratic_problem(
        smoothness * np.eye(size)[None],
        np.zeros((1, size)),
        samples=2000 if noise_std else 1,
        noise_std=noise_std,
        rng=rng,
    )
    history = train(
        FedAvg(),
        GaussianLink(snr_db=snr_db),
        problem,
        sgd=Sgd(rate, batch),
        steps=1,
        rounds=4000,
        seed=int(rng.integers(2**32)),
    )
    squared_distance = 2 / smoothness * history["test_loss"]
    # (1 - eta L)^2 = 0.36 a round: after 20 rounds nothing is left of the correlation
    settled = squared_distance[50::20]
    gradient_variance, channel_variance = noise_std**2 / batch, 10 ** (-snr_db / 10)
    floor = theorem1_floor(rate, smoothness, gradient_variance, channel_variance, size)
    check_mean(settled, floor)
    printed = theorem1_floor(rate, smoothness, gradient_variance, channel_variance)
    assert floor == pytest.approx(size * printed)


def test_theorem1_recursion():
    """By hand: 0.25 z + 0.01 * 4 + 0.5 with eta L = 1/2."""
    curve = theorem1_recursion(8.0, 3, 0.1, 5.0, 4.0, 0.5)
    np.testing.assert_allclose(curve, [8, 2.54, 1.175, 0.83375])
    assert theorem1_recursion(8.0, 200, 0.1, 5.0, 4.0, 0.5)[-1] == pytest.approx(
        theorem1_floor(0.1, 5.0, 4.0, 0.5)
    )


def test_theorem1_is_refused_where_it_does_not_hold():
    with pytest.raises(ValueError, match="rate must be below 1/L = 0.5 for Theorem 1, got 0.5"):
        theorem1_floor(0.5, 2.0, 0.0, 0.1)
