"""Quadratic problems."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Problem, Quadratic, quadratic_problem
from fl.quadratic import default_quadratic
from tests.fl.problems import two_parabolas


def test_a_quadratic_problem_is_a_problem():
    problem = two_parabolas((1, 3))
    assert isinstance(problem, Problem)
    assert problem.num_clients == 2
    assert problem.weights.tolist() == [0.25, 0.75]


def test_optimum_of_two_parabolas():
    """(1/4 * 1 + 3/4 * 6) / (1/4 * 1 + 3/4 * 2)."""
    assert two_parabolas().optimum([0.25, 0.75])[0] == pytest.approx(4.75 / 1.75)


def test_samples_have_the_mean_and_covariance_asked_for(rng):
    problem = quadratic_problem(
        np.eye(3)[None], [[1.0, 2.0, 3.0]], samples=50, noise_std=0.3, rng=rng
    )
    samples = problem.data.x_train
    np.testing.assert_allclose(samples.mean(axis=0), [1, 2, 3])
    np.testing.assert_allclose(np.cov(samples.T, bias=True), 0.09 * np.eye(3), atol=1e-12)


def test_the_default_is_always_the_same():
    one, other = default_quadratic(), default_quadratic()
    assert one.num_clients == 10
    assert one.model.size == 20
    np.testing.assert_array_equal(one.data.x_train, other.data.x_train)
    eigenvalues = np.linalg.eigvalsh(one.model.hessians)
    np.testing.assert_allclose(eigenvalues, np.tile(np.linspace(0.1, 1, 20), (10, 1)))


def test_refused():
    with pytest.raises(ValueError, match="hessians must be positive definite, got"):
        Quadratic(-np.eye(2)[None])
    with pytest.raises(ValueError, match="hessians must be finite and symmetric, got"):
        Quadratic(np.array([[[1.0, 1], [0, 1]]]))
    with pytest.raises(ValueError, match="hessians must be of shape .C, d, d., got .2, 2."):
        Quadratic(np.eye(2))
    with pytest.raises(ValueError, match="linear must be finite and of shape .1, 2., got"):
        quadratic_problem(np.eye(2)[None], [[1.0, np.nan]])
    with pytest.raises(ValueError, match="samples must be more than d = 2, with an rng, .* got 2"):
        quadratic_problem(np.eye(2)[None], [[1.0, 2.0]], samples=2, noise_std=1.0)
    with pytest.raises(ValueError, match="samples must be of shape .2,., got .3,."):
        Quadratic(np.eye(2)[None]).features(np.zeros((4, 3)))
