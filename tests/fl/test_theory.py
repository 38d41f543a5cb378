"""The paper's theory against runs."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Cotaf,
    Diminishing,
    DivergenceWarning,
    FedAvg,
    FedNova,
    LogisticRegression,
    Sgd,
    partition_by_label,
    quadratic_problem,
    train,
)
from fl.constants import estimate_constants
from fl.quadratic import default_quadratic
from fl.theory import (
    Constants,
    corollary1,
    example1_limit,
    theorem1_floor,
    theorem1_recursion,
    theorem2,
    theorem2_of,
)
from links import FadingLink, GaussianLink, IdealLink
from tests.fl.problems import blobs
from tests.tolerance import check_mean


def random_problem(rng, clients=3, size=4):
    roots = rng.standard_normal((clients, size, size))
    hessians = roots @ roots.swapaxes(1, 2) / size + 0.5 * np.eye(size)
    return quadratic_problem(hessians, rng.standard_normal((clients, size)))


def noise_free(problem, algorithm, rate, steps, rounds):
    return train(
        algorithm,
        IdealLink(),
        problem.data,
        problem.shards,
        model=problem.model,
        sgd=Sgd(rate, None),
        steps=steps,
        rounds=rounds,
        test_every=rounds,
    ).model


@pytest.mark.parametrize("normalised", [False, True])
def test_example1(normalised, rng):
    """Unequal steps end at x_hat, not at x*."""
    problem = random_problem(rng)
    steps, rate, alpha = np.array([1, 3, 8]), 0.05, np.full(3, 1 / 3)
    algorithm = FedNova() if normalised else Cotaf()
    limit = noise_free(problem, algorithm, rate, steps, 3000)
    weights = alpha / steps if normalised else alpha
    expected = example1_limit(problem.model.hessians, problem.linear, weights, steps, rate)
    np.testing.assert_allclose(limit, expected, atol=1e-8)
    assert np.linalg.norm(limit - problem.optimum(alpha)) > 1e-3


def test_example1_as_the_rate_falls(rng):
    """With alpha_i / tau_i the limit tends to x* in proportion to eta, with alpha_i it does not."""
    problem = random_problem(rng)
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
    problem = random_problem(rng, clients=1)
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
        problem.data,
        problem.shards,
        model=problem.model,
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


def test_theorem2_by_hand():
    """Two rounds of two clients: each term of the statement."""
    constants = Constants(smoothness=2.0, gradient_variance=3.0, gradient_bound=5.0, gap=7.0)
    bound = theorem2(constants, 0.1, [0.25, 0.75], [[1, 2], [3, 4]], [1.0, 0.5], 0.01)
    np.testing.assert_allclose(bound.optimisation, [140, 70])
    np.testing.assert_allclose(bound.statistical, 2 * 0.1 * 3 * 0.625)
    np.testing.assert_allclose(
        bound.local_update,
        2 * 4 * 0.01 * 25 * np.array([0.0625 + 0.5625 * 4, 0.0625 * 5 + 0.5625 * 10]),
    )
    np.testing.assert_allclose(bound.channel_noise, 2 * 0.01 / 0.1 * np.array([1, 2.5]))
    assert bound.total[1] == pytest.approx(70 + 0.375 + 11.875 + 0.5)
    scaled = theorem2(constants, 0.1, [0.25, 0.75], [[1, 2], [3, 4]], [1.0, 0.5], 0.01, 30)
    np.testing.assert_allclose(scaled.channel_noise, 30 * bound.channel_noise)
    np.testing.assert_allclose(scaled.statistical, bound.statistical)


def noisy_run(problem, seed, **options):
    arguments = {
        "model": problem.model,
        "sgd": Sgd(0.2, 10),
        "steps": np.array([1, 2, 3, 4, 5] * 2),
        "rounds": 60,
        "measure_gradient": True,
        "seed": seed,
    }
    return train(
        Acpc(G=20.0, tau_min=2),
        GaussianLink(snr_db=20.0),
        problem.data,
        problem.shards,
        **{**arguments, **options},
    )


def test_theorem2_bounds_the_gradient(rng):
    """On quadratics, at every number of rounds, with the dimension of the noise."""
    problem = default_quadratic()
    histories = [noisy_run(problem, seed) for seed in range(20)]
    assert not any(history["scaled_down"].any() for history in histories)
    measured = np.mean([history["squared_gradient_norm"] for history in histories], axis=0)
    largest = max(history["largest_gradient"].max() for history in histories)
    estimated = estimate_constants(histories[0], problem.model, problem.data, problem.shards)
    assert estimated.smoothness == pytest.approx(1, rel=1e-3)  # the largest eigenvalue
    # in 20 dimensions with variance 0.25 / 10 each; the estimate is the largest of ten clients
    assert 0.5 < estimated.gradient_variance < 0.5 * (1 + 5 * np.sqrt(2 / (20 * 30)))
    constants = Constants(1.0, 0.5, float(largest), estimated.gap)
    bound = theorem2_of(histories[0], constants, channel_variance=0.01)
    assert (np.minimum.accumulate(measured) <= bound.total).all()
    printed = theorem2_of(histories[0], constants, channel_variance=0.01, scaled=False)
    np.testing.assert_allclose(printed.channel_noise * 20, bound.channel_noise)


def test_theorem2_channel_term_is_needed_in_its_scaled_form():
    """One client that has converged, noise alone: the printed form is below what is measured."""
    size = 100
    problem = quadratic_problem(np.eye(size)[None], np.zeros((1, size)), start=np.zeros(size))
    history = train(
        Acpc(G=1.0),
        GaussianLink(snr_db=20.0),
        problem.data,
        problem.shards,
        model=problem.model,
        sgd=Sgd(0.5, None),
        steps=1,
        rounds=300,
        measure_gradient=True,
    )
    assert not history["scaled_down"].any()
    constants = Constants(1.0, 0.0, float(history["largest_gradient"].max()), gap=0.0)
    measured = history["squared_gradient_norm"][10:].mean()  # x_0 itself is the optimum
    assert theorem2_of(history, constants, 0.01, scaled=False).total[-1] < measured / 2
    assert theorem2_of(history, constants, 0.01).total[-1] > measured


def test_theorem2_is_refused_where_it_does_not_hold(rng):
    problem = default_quadratic()
    constants = Constants(1.0, 0.5, 5.0, 10.0)

    def refused(message, history, constants=constants):
        with pytest.raises(ValueError, match=message):
            theorem2_of(history, constants, 0.01)

    arguments = (problem.data, problem.shards)
    options = {"model": problem.model, "rounds": 3, "steps": 2}
    quiet = GaussianLink(snr_db=20.0)
    scaled_down = train(Acpc(G=1e-3), quiet, *arguments, **options)
    count = int(scaled_down["scaled_down"].sum())
    assert count > 0
    refused(f"signals were scaled down {count} times", scaled_down)
    refused("not Cotaf", train(Cotaf(), quiet, *arguments, **options))
    faded = train(Acpc(G=50.0), FadingLink(truncation=1.5), *arguments, **options)
    refused("silent on part of the spectrum", faded)
    history = noisy_run(problem, 0, sgd=Sgd(0.2, 10, momentum=0.5), rounds=2)
    refused("momentum was 0.5", history)
    falling = noisy_run(problem, 0, sgd=Sgd(Diminishing(0.2, rounds=10), 10), rounds=2)
    refused("the rate was not constant", falling)
    with pytest.warns(DivergenceWarning):
        nothing = noisy_run(problem, 0, sgd=Sgd(1e35, 10), rounds=2)
    refused("it has no round", nothing)
    with pytest.raises(ValueError, match="no round to estimate from"):
        estimate_constants(nothing, problem.model, *arguments)
    with pytest.raises(ValueError, match="give .m., .T, m. and .T."):
        theorem2(constants, 0.1, [0.5, 0.5], [[1, 2], [3, 4]], [1.0], 0.01)
    refused("needs eta <= 1/L = 0.1", noisy_run(problem, 0, rounds=2), Constants(10.0, 0, 5, 10))
    with pytest.raises(ValueError, match="Theorem 1 needs eta < 1/L"):
        theorem1_floor(0.5, 2.0, 0.0, 0.1)
    with pytest.raises(ValueError, match="gap = -1"):
        Constants(1.0, 0.0, 0.0, gap=-1)


def test_corollary1():
    """Its three rates, with the constants that O() hides."""
    constants = Constants(smoothness=0.5, gradient_variance=3.0, gradient_bound=2.0, gap=7.0)
    m, rounds, tau = 10, 4000, 3
    terms = corollary1(constants, m, rounds, tau, channel_variance=0.1, dimension=50)
    root = np.sqrt(m * rounds)
    assert terms.optimisation == pytest.approx(2 * 7 / root)
    assert terms.statistical == pytest.approx(0.5 * 3 / root)
    assert terms.local_update == pytest.approx(0.25 * m * tau**2 * 4 / rounds)
    assert terms.channel_noise == pytest.approx(0.5 * 50 * 0.1 / root)
    with pytest.raises(ValueError, match="rounds = 2 is not allowed: .* at least 3"):
        corollary1(constants, m, 2, tau, 0.1)
    # twice the clients, and as many rounds less: a linear speed-up but for the local updates
    faster = corollary1(constants, 2 * m, rounds // 2, tau, 0.1, dimension=50)
    assert faster.optimisation == pytest.approx(terms.optimisation)


def test_gap_is_that_of_the_run():
    """F(x_0) with weight decay and unequal clients: alpha = 1/4, 3/4 and F = 2, 1 at x_0 = 3."""
    problem = quadratic_problem([[[1.0]], [[2.0]]], [[1.0], [4.0]], samples=3, start=[3.0])
    shards = [problem.shards[0][:1], problem.shards[1]]
    arguments = (problem.model, problem.data, shards)
    history = train(
        Acpc(), IdealLink(), *arguments[1:], model=problem.model, rounds=2, steps=1,
        sgd=Sgd(0.1, None, weight_decay=0.5),
    )  # fmt: skip
    assert history.start.tolist() == [3.0]
    constants = estimate_constants(history, *arguments)
    assert constants.gap == pytest.approx(2 / 4 + 3 / 4 + 0.25 * 9)
    assert constants.smoothness == pytest.approx(2.5, rel=1e-6)
    assert constants.gradient_variance == 0
    above = estimate_constants(history, *arguments, lowest_loss=1.0)
    assert above.gap == pytest.approx(constants.gap - 1)


def test_constants_of_logistic_regression(rng):
    """At x = 0 the Hessian is (I - 11^T/C)/C (x) X^T X / n: its norm is that of X^T X / (n C)."""
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 4, rng)
    model = LogisticRegression(12, 4)
    history = train(
        Acpc(), GaussianLink(snr_db=20), data, shards, rounds=1, steps=1,
        sgd=Sgd(1e-9, 10, weight_decay=0.01),
    )  # fmt: skip
    constants = estimate_constants(history, model, data, shards)
    x = np.column_stack([data.x_train / 255, np.ones(len(data.x_train))])
    curvature = max(np.linalg.norm(x[s].T @ x[s] / len(s), 2) for s in shards) / 4
    assert constants.smoothness == pytest.approx(curvature + 0.01, rel=0.02)
    assert constants.gap == pytest.approx(np.log(4), rel=1e-4)
    assert constants.gradient_bound == history["largest_gradient"].max()
