"""Theorem 2 and Corollary 1, by hand and compared with runs."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Cotaf,
    Deadline,
    Diminishing,
    DivergenceWarning,
    RandomClients,
    Sgd,
    quadratic_problem,
    train,
)
from fl.constants import estimate_constants
from fl.quadratic import default_quadratic
from fl.theory import (
    Constants,
    corollary1,
    theorem2,
    theorem2_of,
)
from links import FadingLink, GaussianLink
from tests.fl.problems import run_parabolas


def test_theorem2_by_hand():
    """Each term, for two rounds of two clients."""
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
        "sgd": Sgd(0.2, 10),
        "steps": np.array([1, 2, 3, 4, 5] * 2),
        "rounds": 60,
        "measure_gradient": True,
        "seed": seed,
    }
    return train(
        Acpc(G=20.0, tau_min=2),
        GaussianLink(snr_db=20.0),
        problem,
        **{**arguments, **options},
    )


def test_theorem2_bounds_the_gradient(rng):
    """On quadratics, after any number of rounds, with the dimension of the noise."""
    problem = default_quadratic()
    histories = [noisy_run(problem, seed) for seed in range(20)]
    assert not any(history["scaled_down"].any() for history in histories)
    measured = np.mean([history["squared_gradient_norm"] for history in histories], axis=0)
    largest = max(history["largest_gradient"].max() for history in histories)
    estimated = estimate_constants(histories[0], problem)
    assert estimated.smoothness == pytest.approx(1, rel=1e-3)  # the largest eigenvalue
    # in 20 dimensions with variance 0.25 / 10 each; the estimate is the largest of ten clients
    assert 0.5 < estimated.gradient_variance < 0.5 * (1 + 5 * np.sqrt(2 / (20 * 30)))
    constants = Constants(1.0, 0.5, float(largest), estimated.gap)
    bound = theorem2_of(histories[0], constants, channel_variance=0.01)
    assert (np.minimum.accumulate(measured) <= bound.total).all()
    printed = theorem2_of(histories[0], constants, channel_variance=0.01, scaled=False)
    np.testing.assert_allclose(printed.channel_noise * 20, bound.channel_noise)


def test_theorem2_channel_term_is_needed_in_its_scaled_form():
    """One client at its optimum, with channel noise only: the printed form is too small."""
    size = 100
    problem = quadratic_problem(np.eye(size)[None], np.zeros((1, size)), start=np.zeros(size))
    history = train(
        Acpc(G=1.0),
        GaussianLink(snr_db=20.0),
        problem,
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


def test_theorem2_with_a_tracked_gain():
    """While nobody is scaled down; 1 / beta^2 is the mean over rounds with different gains."""
    history = run_parabolas(Acpc(), GaussianLink(snr_db=20.0), steps=2, rounds=3)
    assert not history["scaled_down"].any()
    assert len(np.unique(history["gain"])) == 3
    bound = theorem2_of(history, Constants(2.0, 0.0, 6.0, 5.0), channel_variance=0.01)
    inverse = (0.5 * 0.25 * np.array([4.5, 4.17375, 4.17375 * 0.9139312])) ** 2
    np.testing.assert_allclose(
        bound.channel_noise, 2 * 0.01 / 0.25 * np.cumsum(inverse) / [1, 2, 3], rtol=1e-4
    )
    assert np.isfinite(bound.total).all()


def test_theorem2_is_refused_where_it_does_not_hold(rng):
    problem = default_quadratic()
    constants = Constants(1.0, 0.5, 5.0, 10.0)

    def refused(message, history, constants=constants):
        with pytest.raises(ValueError, match=message):
            theorem2_of(history, constants, 0.01)

    options = {"rounds": 3, "steps": 2}
    quiet = GaussianLink(snr_db=20.0)
    scaled_down = train(Acpc(G=1e-3), quiet, problem, **options)
    count = int(scaled_down["scaled_down"].sum())
    assert count > 0
    refused(f"signals were scaled down {count} times", scaled_down)
    refused("not Cotaf", train(Cotaf(), quiet, problem, **options))
    faded = train(Acpc(G=50.0), FadingLink(truncation=1.5), problem, **options)
    refused("silent on part of the spectrum", faded)
    some = train(Acpc(G=50.0), quiet, problem, **options, participation=RandomClients(2))
    refused("some devices took no part in some rounds", some)
    twice = RandomClients(3, replacement=True)
    varying = train(Acpc(G=50.0), quiet, problem, **{**options, "rounds": 20}, participation=twice)
    assert np.isnan(varying["late"]).any()  # 3 draws of 10 devices: 2 clients or fewer in some
    with pytest.raises(ValueError, match="run: some devices took no part in some rounds$"):
        theorem2_of(varying, constants, 0.01)
    deadline = Deadline(1.5, 1.0, spread=1.0)
    late = train(Acpc(G=50.0, tau_min=2), quiet, problem, **options, deadline=deadline)
    refused(f"clients were late {late['late'].sum()} times", late)
    history = noisy_run(problem, 0, sgd=Sgd(0.2, 10, momentum=0.5), rounds=2)
    refused("momentum was 0.5", history)
    ordered = noisy_run(problem, 0, sgd=Sgd(0.2, 10, replacement=False), rounds=2)
    refused("minibatches were drawn without replacement", ordered)
    whole = noisy_run(problem, 0, sgd=Sgd(0.2, None, replacement=False), rounds=2)
    assert np.isfinite(theorem2_of(whole, constants, 0.01).total).all()  # nothing is drawn
    falling = noisy_run(problem, 0, sgd=Sgd(Diminishing(0.2, rounds=10), 10), rounds=2)
    refused("the learning rate was not constant", falling)
    with pytest.warns(DivergenceWarning):
        nothing = noisy_run(problem, 0, sgd=Sgd(1e9, 10), rounds=2)
    refused("it has no rounds", nothing)
    with pytest.raises(ValueError, match="history must be a run with at least one round, got"):
        estimate_constants(nothing, problem)
    with pytest.raises(
        ValueError, match="weights, steps and gains must be of shapes .m., .T, m. and .T., got"
    ):
        theorem2(constants, 0.1, [0.5, 0.5], [[1, 2], [3, 4]], [1.0], 0.01)
    refused(
        "rate must be at most 1/L = 0.1 for Theorem 2, got 0.2",
        noisy_run(problem, 0, rounds=2),
        Constants(10.0, 0, 5, 10),
    )
    with pytest.raises(ValueError, match="gap must be a finite number >= 0, got -1"):
        Constants(1.0, 0.0, 0.0, gap=-1)


def test_corollary1():
    """Its three rates, with the constants hidden by O()."""
    constants = Constants(smoothness=0.5, gradient_variance=3.0, gradient_bound=2.0, gap=7.0)
    m, rounds, tau = 10, 4000, 3
    terms = corollary1(constants, m, rounds, tau, channel_variance=0.1, dimension=50)
    root = np.sqrt(m * rounds)
    assert terms.optimisation == pytest.approx(2 * 7 / root)
    assert terms.statistical == pytest.approx(0.5 * 3 / root)
    assert terms.local_update == pytest.approx(0.25 * m * tau**2 * 4 / rounds)
    assert terms.channel_noise == pytest.approx(0.5 * 50 * 0.1 / root)
    with pytest.raises(ValueError, match="rounds must be at least 3 for eta = .*, got 2"):
        corollary1(constants, m, 2, tau, 0.1)
    # twice the clients, and as many rounds less: a linear speed-up but for the local updates
    faster = corollary1(constants, 2 * m, rounds // 2, tau, 0.1, dimension=50)
    assert faster.optimisation == pytest.approx(terms.optimisation)
