"""What the paper proves of the learning, measured in runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fl import Acpc, Cotaf, FedAvg, FedNova, Sgd, quadratic_problem, train, train_together
from fl.constants import estimate_constants
from fl.quadratic import default_quadratic
from fl.theory import example1_limit, theorem1_floor, theorem2_of
from links import GaussianLink, IdealLink
from scenarios.validation.claims import Claim, at_least, at_most, mean_is
from scenarios.validation.oracle import Oracle


def theorem1(rng: np.random.Generator) -> Iterator[Claim]:
    size, smoothness, rate, batch = 40, 2.0, 0.2, 4
    problem = quadratic_problem(
        smoothness * np.eye(size)[None], np.zeros((1, size)), samples=2000, noise_std=1.0, rng=rng
    )
    run = train(
        FedAvg(),
        GaussianLink(snr_db=20.0),
        problem.data,
        problem.shards,
        model=problem.model,
        sgd=Sgd(rate, batch),
        steps=1,
        rounds=4000,
        seed=int(rng.integers(2**32)),
        progress=False,
    )
    # (1 - eta L)^2 = 0.36 a round: after 20 rounds nothing is left of the correlation
    settled = (2 / smoothness * run["test_loss"])[50::20]
    floor = theorem1_floor(rate, smoothness, 1.0 / batch, 0.01, size)
    yield mean_is("d = 40, 20 dB: squared distance to the optimum", settled, floor)


def example1(rng: np.random.Generator) -> Iterator[Claim]:
    roots = rng.standard_normal((3, 4, 4))
    hessians = roots @ roots.swapaxes(1, 2) / 4 + 0.5 * np.eye(4)
    problem = quadratic_problem(hessians, rng.standard_normal((3, 4)))
    steps, rate, alpha = np.array([1, 3, 8]), 0.05, np.full(3, 1 / 3)
    for algorithm, weights in ((Cotaf(), alpha), (FedNova(), alpha / steps)):
        run = train(
            algorithm,
            IdealLink(),
            problem.data,
            problem.shards,
            model=problem.model,
            sgd=Sgd(rate, None),
            steps=steps,
            rounds=1000,
            test_every=1000,
            progress=False,
        )
        limit = example1_limit(hessians, problem.linear, weights, steps, rate)
        name = "averaging" if isinstance(algorithm, Cotaf) else "normalised by steps"
        away = np.linalg.norm(run.model - limit)
        yield at_most(f"{name}: distance from the limit of theory", away, 1e-7)
        if isinstance(algorithm, Cotaf):
            wrong = np.linalg.norm(run.model - problem.optimum(alpha))
            yield at_least("averaging: distance from the optimum", wrong, 1e-3)


def theorem2(rng: np.random.Generator) -> Iterator[Claim]:
    problem, link = default_quadratic(), GaussianLink(snr_db=20.0)
    run = train(
        Acpc(G=20.0),
        link,
        problem.data,
        problem.shards,
        model=problem.model,
        rounds=60,
        sgd=Sgd(0.2, 10),
        measure_gradient=True,
        seed=int(rng.integers(2**32)),
        progress=False,
    )
    constants = estimate_constants(run, problem.model, problem.data, problem.shards)
    bound = theorem2_of(run, constants, float(link.noise(problem.model.size).variance))
    smallest = np.minimum.accumulate(run["squared_gradient_norm"])
    ratio = (smallest / bound.total).max()
    yield at_most("60 rounds: least squared gradient over the bound, largest", ratio, 1.0)


def equal_steps(rng: np.random.Generator) -> Iterator[Claim]:
    problem, link, tau = default_quadratic(), GaussianLink(snr_db=20.0), 5
    acpc, cotaf = train_together(
        [(Acpc(beta="realised"), link), (Cotaf(server_step=1 / tau), link)],
        problem.data,
        problem.shards,
        model=problem.model,
        steps=tau,
        rounds=20,
        sgd=Sgd(0.1, 10),
        seed=int(rng.integers(2**32)),
        progress=False,
    )
    error = np.abs(acpc.model - cotaf.model).max() / np.abs(cotaf.model).max()
    yield at_most("20 rounds of 5 steps: largest relative difference", error, 1e-5)


ORACLES = (
    Oracle(
        "Theorem 1",
        r"d\,\frac{\eta^2 \sigma^2 + \sigma_c^2}{1 - (1 - \eta L)^2}",
        theorem1,
    ),
    Oracle(
        "Example 1",
        r"\hat{x} = \left[\sum_i w_i K_i H_i\right]^{-1} \sum_i w_i K_i e_i",
        example1,
    ),
    Oracle(
        "Theorem 2",
        r"\frac{2 (F(x_0) - F^*)}{T \eta} + L \eta \sigma^2 \sum_i \alpha_i^2 "
        r"+ m L^2 \eta^2 G^2 \sum_i \alpha_i^2 \tau_i^2 + \frac{d L \sigma_c^2}{\eta \beta^2}",
        theorem2,
    ),
    Oracle(
        "ACPC-OTA-FL with equal steps",
        r"\text{is COTAF with a server step of } 1/\tau",
        equal_steps,
    ),
)
